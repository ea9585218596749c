"""A copy of a program that seals itself before its first instruction.

The copy has one more segment: our instructions, at which it starts, the clocks, the filter, and a longer table of segments. Nothing else changes.
Format: elf(5).
"""

from __future__ import annotations

import struct

from engine.sandbox.sealed import calls, vdso
from engine.sandbox.sealed.listing import assemble

PAGE = 4096
MOST_BYTES = 64 << 20
_PT_LOAD, _PT_PHDR = 1, 6
_READ_EXECUTE = 5
_ENTRY_BYTES = 56  # Size of an entry in the table of segments.
_FAR = 1 << 20  # A copy may grow by this many bytes so that its table has the same position in memory as in the file.

_CODE = """
seal:                              ; as the kernel starts a program: at rsp argc, argv, null, environment, null, then pairs
    8b 04 24                       ; mov eax, [rsp]
    48 8d 5c c4 10                 ; lea rbx, [rsp+rax*8+16]
environment:
    48 83 c3 08                    ; add rbx, 8
    48 83 7b f8 00                 ; cmp qword [rbx-8], 0
    75 >environment                ; jne environment
pair:                              ; rbx: a pair of a key and its value
    48 8b 03                       ; mov rax, [rbx]
    48 83 f8 21                    ; cmp rax, 33            AT_SYSINFO_EHDR: where the clocks are
    74 >clocks                     ; je clocks
    48 8d 0d >>begin               ; lea rcx, [begin]
    48 83 f8 09                    ; cmp rax, 9             AT_ENTRY: where the program begins
    74 >put                        ; je put
    48 8d 0d >>table               ; lea rcx, [table]
    48 83 f8 03                    ; cmp rax, 3             AT_PHDR: where its table is (before Linux 5.18 guessed wrong)
    74 >put                        ; je put
next:
    48 83 c3 10                    ; add rbx, 16
    48 85 c0                       ; test rax, rax
    75 >pair                       ; jne pair
    eb >unmap                      ; jmp unmap
clocks:
    4c 8b 63 08                    ; mov r12, [rbx+8]
    48 8d 0d >>vdso                ; lea rcx, [vdso]
put:
    48 89 4b 08                    ; mov [rbx+8], rcx
    eb >next                       ; jmp next

unmap:                             ; the kernel's clocks, and the pages with the time in front of them
    49 8d bc 24 $clocks_at         ; lea rdi, [r12+clocks_at]
    be $clocks_bytes               ; mov esi, clocks_bytes
    b8 0b 00 00 00                 ; mov eax, 11            munmap
    0f 05                          ; syscall
    85 c0                          ; test eax, eax
    0f 85 >>stay                   ; jnz stay

    6a 00                          ; push 0                 no signal is blocked meanwhile
    48 8d 05 >>back                ; lea rax, [back]
    50                             ; push rax
    68 04 00 00 0c                 ; push 0xc000004         SA_RESTORER, SA_SIGINFO, SA_ONSTACK: a stack of the program may be small
    48 8d 05 >>trap                ; lea rax, [trap]
    50                             ; push rax
    bf 0b 00 00 00                 ; mov edi, 11            SIGSEGV
    48 89 e6                       ; mov rsi, rsp
    31 d2                          ; xor edx, edx
    41 ba 08 00 00 00              ; mov r10d, 8
    b8 0d 00 00 00                 ; mov eax, 13            rt_sigaction
    0f 05                          ; syscall
    85 c0                          ; test eax, eax
    0f 85 >>stay                   ; jnz stay
    48 83 c4 20                    ; add rsp, 32

    bf 1a 00 00 00                 ; mov edi, 26            PR_SET_TSC
    be 02 00 00 00                 ; mov esi, 2             PR_TSC_SIGSEGV
    31 d2                          ; xor edx, edx
    45 31 d2                       ; xor r10d, r10d
    45 31 c0                       ; xor r8d, r8d
    b8 9d 00 00 00                 ; mov eax, 157           prctl
    0f 05                          ; syscall
    85 c0                          ; test eax, eax
    0f 85 >>stay                   ; jnz stay

    6a 00                          ; push 0
    6a 00                          ; push 0
    31 ff                          ; xor edi, edi           this process
    be 01 00 00 00                 ; mov esi, 1             RLIMIT_FSIZE: bubblewrap had to write this copy down
    48 89 e2                       ; mov rdx, rsp
    45 31 d2                       ; xor r10d, r10d
    b8 2e 01 00 00                 ; mov eax, 302           prlimit64
    0f 05                          ; syscall
    85 c0                          ; test eax, eax
    0f 85 >>stay                   ; jnz stay
    48 83 c4 10                    ; add rsp, 16

    48 8d 05 >>filter              ; lea rax, [filter]
    50                             ; push rax
    68 $filter_steps               ; push filter_steps
    bf 01 00 00 00                 ; mov edi, 1             SECCOMP_SET_MODE_FILTER
    31 f6                          ; xor esi, esi
    48 89 e2                       ; mov rdx, rsp
    b8 3d 01 00 00                 ; mov eax, 317           seccomp; last, so that two filters prove all the steps before
    0f 05                          ; syscall
    85 c0                          ; test eax, eax
    0f 85 >>stay                   ; jnz stay
    48 83 c4 10                    ; add rsp, 16

    31 c0                          ; xor eax, eax           as the kernel leaves them
    31 db                          ; xor ebx, ebx
    31 c9                          ; xor ecx, ecx
    31 d2                          ; xor edx, edx
    31 f6                          ; xor esi, esi
    31 ff                          ; xor edi, edi
    45 31 c0                       ; xor r8d, r8d
    45 31 d2                       ; xor r10d, r10d
    45 31 db                       ; xor r11d, r11d
    45 31 e4                       ; xor r12d, r12d
    e9 >>begin                     ; jmp begin

stay:                              ; a program that is not sealed does not begin: the worker gives up waiting for the second filter
    b8 22 00 00 00                 ; mov eax, 34            pause
    0f 05                          ; syscall
    eb >stay                       ; jmp stay

trap:                              ; rdx: the registers of the instruction that failed. One that reads the counter gets 0
    48 8b 82 a8 00 00 00           ; mov rax, [rdx+168]     its place
    66 81 38 0f 31                 ; cmp word [rax], 0x310f
    75 >rdtscp                     ; jne rdtscp
    48 83 82 a8 00 00 00 02        ; add qword [rdx+168], 2
    eb >zero                       ; jmp zero
rdtscp:
    66 81 38 0f 01                 ; cmp word [rax], 0x010f
    75 >fault                      ; jne fault
    80 78 02 f9                    ; cmp byte [rax+2], 0xf9
    75 >fault                      ; jne fault
    48 83 82 a8 00 00 00 03        ; add qword [rdx+168], 3
    48 c7 82 98 00 00 00 00 00 00 00 ; mov qword [rdx+152], 0   rcx
zero:
    48 c7 82 90 00 00 00 00 00 00 00 ; mov qword [rdx+144], 0   rax
    48 c7 82 88 00 00 00 00 00 00 00 ; mov qword [rdx+136], 0   rdx
    c3                             ; ret
fault:                             ; any other ends the process when it is tried again, because the signal is no longer handled
    6a 00                          ; push 0
    6a 00                          ; push 0
    6a 00                          ; push 0
    6a 00                          ; push 0
    bf 0b 00 00 00                 ; mov edi, 11
    48 89 e6                       ; mov rsi, rsp
    31 d2                          ; xor edx, edx
    41 ba 08 00 00 00              ; mov r10d, 8
    41 ba 08 00 00 00              ; mov r10d, 8
    41 b8 $ours                    ; mov r8d, ours         no argument of this call: the filter knows us by it
    b8 0d 00 00 00                 ; mov eax, 13
    0f 05                          ; syscall
    48 83 c4 20                    ; add rsp, 32
    c3                             ; ret
back:
    b8 0f 00 00 00                 ; mov eax, 15            rt_sigreturn
    0f 05                          ; syscall
"""


class CannotSeal(ValueError):
    """No segment can be added to this program. The message completes a sentence that begins with the file's name."""


def sealed(program: bytes, clocks: tuple[int, int], *, threads: bool = False) -> bytes:
    """Return a copy that seals itself.

    program: an executable for this machine that needs no dynamic loader; clocks: the start of the kernel's time pages, relative to the address that
    it passes to a program, and their size (see ``host.clocks``); threads: as in ``calls.build``. Raise CannotSeal.
    """
    if len(program) > MOST_BYTES:
        raise CannotSeal(f"has {len(program)} bytes; programs of sealed bots are limited to {MOST_BYTES >> 20} MiB")
    try:
        return _sealed(program, clocks, calls.build(threads=threads))
    except (struct.error, OverflowError):
        raise CannotSeal("has segments at impossible addresses") from None


def _sealed(program: bytes, clocks: tuple[int, int], steps: bytes) -> bytes:
    begin, table_at = struct.unpack_from("<QQ", program, 24)
    size, count = struct.unpack_from("<HH", program, 54)
    table = [list(struct.unpack_from("<IIQQQQQQ", program, table_at + size * index)) for index in range(count)]
    loads = [entry for entry in table if entry[0] == _PT_LOAD]
    if not loads or count >= 0xFFFE:
        raise CannotSeal("has no loadable segment")
    file_end = _pages(len(program))
    first, image_end = (
        loads[0][3] - loads[0][2],
        _pages(max(at + max(in_file, in_memory) for _, _, _, at, _, in_file, in_memory, _ in loads)),
    )
    # If it costs few bytes, give the segment the same position in the file as in memory: loaders look for their own table there.
    offset = max(file_end, image_end - first)
    if offset - file_end > _FAR or offset + first < image_end:
        offset = file_end
    address = max(offset + first, image_end)

    table_bytes = _ENTRY_BYTES * (count + 1)
    vdso_at = _pages(table_bytes)
    filter_at = vdso_at + _aligned(len(vdso.image()))
    code_at = filter_at + _aligned(len(steps))
    places = {"begin": begin - address, "table": 0, "vdso": vdso_at, "filter": filter_at}
    numbers = {"clocks_at": clocks[0], "clocks_bytes": clocks[1], "filter_steps": len(steps) // 8, "ours": calls.OURS}
    code, labels = assemble(_CODE, numbers, {name: at - code_at for name, at in places.items()})
    added = bytearray(code_at) + code
    added[vdso_at : vdso_at + len(vdso.image())] = vdso.image()
    added[filter_at : filter_at + len(steps)] = steps

    for entry in table:
        if entry[0] == _PT_PHDR:
            entry[2:7] = [offset, address, address, table_bytes, table_bytes]
    ours = [_PT_LOAD, _READ_EXECUTE, offset, address, address, len(added), len(added), PAGE]
    table.insert(table.index(loads[-1]) + 1, ours)
    added[:table_bytes] = b"".join(struct.pack("<IIQQQQQQ", *entry) for entry in table)

    copy = bytearray(program) + bytes(offset - len(program)) + added
    struct.pack_into("<QQ", copy, 24, address + code_at + labels["seal"], offset)
    struct.pack_into("<HH", copy, 54, _ENTRY_BYTES, count + 1)
    return bytes(copy)


def _pages(size: int) -> int:
    return size + -size % PAGE


def _aligned(size: int) -> int:
    return size + -size % 16
