# Settings of root's interactive shells.
export PS1='\h:\w\$ '
alias ll='ls -l --almost-all'
alias rm='rm --one-file-system'
# alias of the nightly import
alias orders=/app/orders.py
