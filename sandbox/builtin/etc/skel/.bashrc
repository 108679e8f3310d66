# Settings of a user's interactive shells.
[ -z "${PS1-}" ] && return
PS1='\u@\h:\w\$ '
