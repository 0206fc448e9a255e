/** Types of the one function of Node's crypto that the Workers use, by the flag nodejs_compat: the Workers' own types do not contain it. */
declare module 'node:crypto' {
  export function createHash(algorithm: 'sha256'): Hash;
  interface Hash {
    update(bytes: Uint8Array): Hash;
    digest(encoding: 'hex'): string;
  }
}
