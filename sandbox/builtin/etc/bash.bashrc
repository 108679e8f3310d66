# System-wide settings of interactive bash shells.
[ -z "${PS1-}" ] && return
PS1='\u@\h:\w\$ '
