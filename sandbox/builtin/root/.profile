# Settings of root's login shells.
if [ -n "${BASH_VERSION-}" ] && [ -f ~/.bashrc ]; then
  . ~/.bashrc
fi
