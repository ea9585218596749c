"""The clocks of a sealed bot, in place of those that the kernel maps into every program (vdso(7)).

Every clock shows a fixed day plus the CPU time of the process, which only runs while the bot computes. The C library finds these clocks as it finds
the kernel's: by name, in a small shared library whose address the kernel passes to every program.
"""

from __future__ import annotations

import struct
from functools import cache

from engine.sandbox.policy import DAY
from engine.sandbox.sealed.listing import assemble

_CODE = """
clock_gettime:               ; edi: which clock; rsi: where the time goes, in seconds and nanoseconds
    41 89 f8                 ; mov r8d, edi
    bf 02 00 00 00           ; mov edi, 2               the CPU time of the process, the only clock that the filter allows
    b8 e4 00 00 00           ; mov eax, 228             clock_gettime
    0f 05                    ; syscall
    85 c0                    ; test eax, eax
    75 >out                  ; jnz out
    41 83 e8 02              ; sub r8d, 2
    41 83 f8 01              ; cmp r8d, 1               the clocks of CPU time (2) and of the thread (3) are returned unchanged
    76 >out                  ; jbe out
    48 81 06 $day            ; add qword [rsi], day
out:
    c3                       ; ret

gettimeofday:                ; rdi: where the time goes, in seconds and microseconds, or null
    48 85 ff                 ; test rdi, rdi
    74 >nothing              ; jz nothing
    48 89 fe                 ; mov rsi, rdi
    bf 02 00 00 00           ; mov edi, 2
    b8 e4 00 00 00           ; mov eax, 228
    0f 05                    ; syscall
    85 c0                    ; test eax, eax
    75 >failed               ; jnz failed
    48 81 06 $day            ; add qword [rsi], day
    48 8b 46 08              ; mov rax, [rsi+8]
    31 d2                    ; xor edx, edx
    b9 e8 03 00 00           ; mov ecx, 1000
    48 f7 f1                 ; div rcx
    48 89 46 08              ; mov [rsi+8], rax
nothing:
    31 c0                    ; xor eax, eax
failed:
    c3                       ; ret

time:                        ; rdi: where the seconds go as well, or null
    49 89 f8                 ; mov r8, rdi
    48 83 ec 18              ; sub rsp, 24
    48 89 e6                 ; mov rsi, rsp
    bf 02 00 00 00           ; mov edi, 2
    b8 e4 00 00 00           ; mov eax, 228
    0f 05                    ; syscall
    48 8b 04 24              ; mov rax, [rsp]
    48 83 c4 18              ; add rsp, 24
    48 05 $day               ; add rax, day
    4d 85 c0                 ; test r8, r8
    74 >done                 ; jz done
    49 89 00                 ; mov [r8], rax
done:
    c3                       ; ret

clock_getres:                ; rsi: where the step of a clock goes, or null
    48 85 f6                 ; test rsi, rsi
    74 >fine                 ; jz fine
    48 c7 06 00 00 00 00     ; mov qword [rsi], 0
    48 c7 46 08 01 00 00 00  ; mov qword [rsi+8], 1
fine:
    31 c0                    ; xor eax, eax
    c3                       ; ret

getcpu:                      ; rdi, rsi: where the numbers of the processor and of its node go, or null
    48 85 ff                 ; test rdi, rdi
    74 >node                 ; jz node
    c7 07 00 00 00 00        ; mov dword [rdi], 0
node:
    48 85 f6                 ; test rsi, rsi
    74 >both                 ; jz both
    c7 06 00 00 00 00        ; mov dword [rsi], 0
both:
    31 c0                    ; xor eax, eax
    c3                       ; ret
"""
_FUNCTIONS = ("clock_gettime", "gettimeofday", "time", "clock_getres", "getcpu")
_HEADER, _PROGRAM_HEADER, _SYMBOL, _DYNAMIC = 64, 56, 24, 16  # Size of each structure in bytes, see elf(5).
_DT_NULL, _DT_HASH, _DT_STRTAB, _DT_SYMTAB, _DT_STRSZ, _DT_SYMENT, _DT_SONAME = 0, 4, 5, 6, 10, 11, 14
_DT_VERSYM, _DT_VERDEF, _DT_VERDEFNUM = 0x6FFFFFF0, 0x6FFFFFFC, 0x6FFFFFFD
_VERSION = (
    b"LINUX_2.6"  # The kernel's clocks have this version. Go looks for it, and fails where a library has no versions.
)
_DEFINITION = 28  # Bytes of a definition of a version with its name.
_ENTRIES = 10  # Of the dynamic section.
_GLOBAL_FUNCTION, _A_SECTION = 0x12, 1  # Any section will do: a symbol must name one.


@cache
def image() -> bytes:
    """Return the library as it is in memory, at any address; all of it is readable and executable, none of it writable."""
    code, places = assemble(_CODE, {"day": DAY}, {})
    names = bytearray(b"\0")
    symbols = bytearray(_SYMBOL)
    tables_at = _HEADER + 2 * _PROGRAM_HEADER
    code_at = tables_at + _ENTRIES * _DYNAMIC + (len(_FUNCTIONS) + 1) * _SYMBOL
    for function in _FUNCTIONS:
        symbols += struct.pack("<IBBHQQ", len(names), _GLOBAL_FUNCTION, 0, _A_SECTION, code_at + places[function], 0)
        names += b"__vdso_" + function.encode() + b"\0"
    soname = len(names)
    names += b"linux-vdso.so.1\0"
    version = len(names)
    names += _VERSION + b"\0"
    names += bytes(-len(names) % 4)
    names_at = code_at + len(code)
    names_at += -names_at % 4
    # One bucket: a list of all symbols, each of which names the next.
    count = len(_FUNCTIONS) + 1
    chain = [0, *range(2, count), 0]
    table = struct.pack(f"<II I{count}I", 1, count, 1, *chain)
    definitions = _definition(soname, b"linux-vdso.so.1", index=1, base=True) + _definition(version, _VERSION, index=2)
    versions = struct.pack(f"<{count}H", 0, *[2] * (count - 1))
    definitions_at = names_at + len(names) + len(table)
    dynamic = b"".join(
        struct.pack("<QQ", key, value)
        for key, value in (
            (_DT_HASH, names_at + len(names)),
            (_DT_STRTAB, names_at),
            (_DT_SYMTAB, tables_at + _ENTRIES * _DYNAMIC),
            (_DT_STRSZ, len(names)),
            (_DT_SYMENT, _SYMBOL),
            (_DT_SONAME, soname),
            (_DT_VERSYM, definitions_at + len(definitions)),
            (_DT_VERDEF, definitions_at),
            (_DT_VERDEFNUM, 2),
            (_DT_NULL, 0),
        )
    )
    body = dynamic + bytes(symbols) + code
    body += bytes(names_at - tables_at - len(body)) + bytes(names) + table + definitions + versions
    size = tables_at + len(body)
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = ident + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, _HEADER, 0, 0, _HEADER, _PROGRAM_HEADER, 2, 64, 0, 0)
    load = struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 4096)
    # The dynamic section is marked read-only (4), so that the C library leaves it unchanged.
    dynamic_header = struct.pack("<IIQQQQQQ", 2, 4, tables_at, tables_at, tables_at, len(dynamic), len(dynamic), 8)
    return header + load + dynamic_header + body


def _definition(name: int, text: bytes, *, index: int, base: bool = False) -> bytes:
    """Return a definition of a version (Verdef, then Verdaux); the first one is that of the library itself."""
    code = 0
    for letter in text:  # The hash of elf(5).
        code = (code << 4) + letter
        code = (code ^ (code & 0xF000_0000) >> 24) & 0x0FFF_FFFF
    after = _DEFINITION if base else 0
    return struct.pack("<HHHHIII", 1, base, index, 1, code, 20, after) + struct.pack("<II", name, 0)
