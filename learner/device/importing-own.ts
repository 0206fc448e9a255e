/** Makes of the module of the kernels, which imports a memory of several threads, one that imports a memory of its own. Its code is the same. */

const utf8 = new TextEncoder();
/** The import of a memory with a maximum, up to the byte that says whether it is shared. */
const MEMORY = Uint8Array.from([3, ...utf8.encode('env'), 6, ...utf8.encode('memory'), 2]);
const SHARED = 3;
const OWN = 1;

export function importingOwn(binary: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const own = binary.slice();
  const at = own.findIndex((_, start) => MEMORY.every((byte, i) => own[start + i] === byte)) + MEMORY.length;
  if (own[at] !== SHARED) throw new Error('internal: the kernels import something else than a shared memory');
  own[at] = OWN;
  return own;
}
