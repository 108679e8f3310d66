# Settings of a user's login shells.
if [ -n "${BASH_VERSION-}" ] && [ -f ~/.bashrc ]; then
  . ~/.bashrc
fi
