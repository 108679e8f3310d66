# Settings of root's interactive shells.
[ -z "${PS1-}" ] && return
PS1='\u@\h:\w\$ '
