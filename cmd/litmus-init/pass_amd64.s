#include "textflag.h"

// func passPID() int
TEXT ·passPID(SB), NOSPLIT, $0-8
	MOVL $0x4111, DI // CLONE_VM | CLONE_VFORK | SIGCHLD
	XORL SI, SI      // on the same stack, which the child leaves alone
	XORL DX, DX
	XORL R10, R10
	XORL R8, R8
	MOVL $56, AX     // clone
	SYSCALL
	TESTQ AX, AX
	JNE  parent
	XORL DI, DI
	MOVL $60, AX     // exit
	SYSCALL
parent:
	MOVQ AX, ret+0(FP)
	RET
