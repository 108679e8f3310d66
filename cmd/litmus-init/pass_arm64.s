#include "textflag.h"

// func passPID() int
TEXT ·passPID(SB), NOSPLIT, $0-8
	MOVD $0x4111, R0 // CLONE_VM | CLONE_VFORK | SIGCHLD
	MOVD $0, R1      // on the same stack, which the child leaves alone
	MOVD $0, R2
	MOVD $0, R3
	MOVD $0, R4
	MOVD $220, R8    // clone
	SVC
	CBNZ R0, parent
	MOVD $93, R8     // exit
	SVC
parent:
	MOVD R0, ret+0(FP)
	RET
