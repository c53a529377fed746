/** The smallest program of 32 bits for x86 that calls `chmod(path, mode)` and ends with the error that it got, or 0. */

const BASE = 0x08048000;
const HEADERS = 52 + 32;
const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');

export function program32(path: string, mode: number): Buffer {
  const code = (at: number): Buffer =>
    Buffer.concat([
      bytes('b8 0f000000 bb'), // mov eax, chmod; mov ebx, path
      words(at),
      bytes('b9'), // mov ecx, mode
      words(mode),
      bytes('cd80 89c3 f7db b8 01000000 cd80'), // int 0x80; mov ebx, eax; neg ebx; mov eax, exit; int 0x80
    ]);
  const at = BASE + HEADERS + code(0).length;
  const body = Buffer.concat([code(at), Buffer.from(`${path}\0`)]);
  const size = HEADERS + body.length;
  return Buffer.concat([
    bytes('7f454c46 010101 000000000000000000 0200 0300'), // an executable for the 386
    words(1, BASE + HEADERS, 52, 0, 0),
    bytes('3400 2000 0100 0000 0000 0000'),
    words(1, 0, BASE, BASE, size, size, 5, 0x1000),
    body,
  ]);
}

function words(...values: number[]): Buffer {
  const written = Buffer.alloc(values.length * 4);
  for (const [index, value] of values.entries()) written.writeUInt32LE(value, index * 4);
  return written;
}
