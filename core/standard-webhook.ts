/**
 * Standard Webhooks (standardwebhooks.com): three headers sign a message, so that libraries of a dozen languages can send our orders and
 * check our callbacks. `webhook-signature` is `v1,` and the base64 of HMAC-SHA256 over "<id>.<unix seconds>.<body>".
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { concatBytes, utf8ToBytes } from '@noble/hashes/utils.js';

const PREFIX = 'whsec_';

/** A secret that begins with `whsec_` is base64; any other text is taken as it is. */
const keyOf = (secret: string): Uint8Array =>
  secret.startsWith(PREFIX)
    ? Uint8Array.from(atob(secret.slice(PREFIX.length)), (character) => character.charCodeAt(0))
    : utf8ToBytes(secret);

/** `id`: names the message; a message that is sent again keeps it. */
export function standardSignature(secret: string, id: string, seconds: number, body: Uint8Array): string {
  const mac = hmac(sha256, keyOf(secret), concatBytes(utf8ToBytes(`${id}.${seconds}.`), body));
  return `v1,${btoa(String.fromCharCode(...mac))}`;
}

/** The headers of a signed message. */
export const standardHeaders = (
  secret: string,
  id: string,
  seconds: number,
  body: string,
): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(seconds),
  'webhook-signature': standardSignature(secret, id, seconds, utf8ToBytes(body)),
});
