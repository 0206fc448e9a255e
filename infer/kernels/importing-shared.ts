/** Makes of a module of the kernels, which imports a memory of its own, one that imports a memory of several threads. Its code is the same. */

const name = (text: string): number[] => [text.length, ...new TextEncoder().encode(text)];
/** The section of imports, which has one: the memory, with flags and limits in pages. */
const section = (...limits: number[]): Uint8Array => {
  const content = [1, ...name('env'), ...name('memory'), 2, ...limits];
  return Uint8Array.from([2, content.length, ...content]);
};
/** At least one page. */
const OWN = section(0, 1);
/** Shared, at least one page and at most 65536: LEB128. */
const SHARED = section(3, 1, 0x80, 0x80, 4);

export function importingShared(binary: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = Buffer.from(binary);
  const at = bytes.indexOf(OWN);
  if (at < 0) throw new Error('internal: the kernels import something else than a memory');
  return Buffer.concat([bytes.subarray(0, at), SHARED, bytes.subarray(at + OWN.length)]);
}
