# Settings of root's login shells.
if [ -n "$BASH" ]; then
  test -f ~/.bashrc && . ~/.bashrc
fi
# BASH_ENV stays unset: scripts shall not read settings.
