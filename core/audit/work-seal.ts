/**
 * A node's identity and its seal. The token of a node holds the private half of an Ed25519 key; the mesh keeps the public half and the
 * token's hash. So whoever reads the mesh's database can neither speak as a node nor seal as one, and anybody who has the public key can
 * check later what a node returned.
 */
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, hexToBytes, utf8ToBytes } from '@noble/hashes/utils.js';
import { wrongInput } from '../errors.ts';
import type { Completion } from '../policy/policy.ts';
import { canonicalJson } from '../text/canonical-json.ts';

const ALGORITHM = 'Ed25519';
/** What stands before the 32 bytes of a private Ed25519 key in PKCS #8 (RFC 8410, section 7). */
const PKCS8 = hexToBytes('302e020100300506032b657004220420');
const TOKEN = /^([0-9a-f]{32})\.([0-9a-f]{64})$/;

/** What a seal covers. */
export interface SealedResult {
  readonly work: string;
  readonly lease: string;
  readonly node: string;
  /** sha256 of the weights' file. */
  readonly weights: string;
  /** `completionsSha256` of what was computed. */
  readonly sha256: string;
}

/**
 * The completions of a request, in the order asked, as one hash: by the platform's own code, since a gateway asks for that of every result. The
 * fields are in the order of their names, so that the text is that of `canonicalJson`.
 */
export const completionsSha256 = async (completions: readonly Completion[]): Promise<string> => {
  const text = JSON.stringify(completions.map(({ ids, logprobs, stopped }) => ({ ids, logprobs, stopped })));
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(utf8ToBytes(text)))));
};

export const tokenSha256 = (token: string): string => bytesToHex(sha256(utf8ToBytes(token)));

const message = ({ work, lease, node, weights, sha256: hash }: SealedResult) =>
  new Uint8Array(utf8ToBytes(canonicalJson(['work 1', work, lease, node, weights, hash])));

export interface NodeKeys {
  readonly token: string;
  /** 32 bytes in hex. */
  readonly publicKey: string;
}

/** Makes the token of a node and the key that checks its seals. */
export async function makeNodeKeys(node: string): Promise<NodeKeys> {
  const pair = (await crypto.subtle.generateKey({ name: ALGORITHM }, true, [
    'sign',
    'verify',
  ])) as CryptoKeyPair;
  const secret = new Uint8Array((await crypto.subtle.exportKey('pkcs8', pair.privateKey)) as ArrayBuffer);
  const shown = new Uint8Array((await crypto.subtle.exportKey('raw', pair.publicKey)) as ArrayBuffer);
  return { token: `${node}.${bytesToHex(secret.subarray(PKCS8.length))}`, publicKey: bytesToHex(shown) };
}

export interface NodeIdentity {
  readonly node: string;
  readonly token: string;
  readonly seal: (result: Omit<SealedResult, 'node'>) => Promise<string>;
}

/** The identity that a token stands for. Throws `wrong-input` for a text that is no token. */
export async function identityOf(token: string): Promise<NodeIdentity> {
  const [, node, secret] = TOKEN.exec(token.trim()) ?? [];
  if (!node || !secret)
    throw wrongInput('node.token', 'This is not the token of a node.', {
      expected: '32 hexadecimal digits, a dot, and 64 more',
      next: 'Make one where the mesh is: `npx rollmesh node-token create NAME`.',
    });
  const bytes = new Uint8Array([...PKCS8, ...hexToBytes(secret)]);
  const key = await crypto.subtle.importKey('pkcs8', bytes, { name: ALGORITHM }, false, ['sign']);
  return {
    node,
    token: `${node}.${secret}`,
    seal: async (result) =>
      bytesToHex(
        new Uint8Array(await crypto.subtle.sign({ name: ALGORITHM }, key, message({ ...result, node }))),
      ),
  };
}

/** Was the result sealed by the node with this public key? */
export async function isSealed(publicKey: string, seal: string, result: SealedResult): Promise<boolean> {
  const raw = new Uint8Array(hexToBytes(publicKey));
  const key = await crypto.subtle.importKey('raw', raw, { name: ALGORITHM }, false, ['verify']);
  return crypto.subtle.verify({ name: ALGORITHM }, key, new Uint8Array(hexToBytes(seal)), message(result));
}
