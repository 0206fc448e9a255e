/**
 * Verifies webhook signatures: those of Standard Webhooks by its library, valid for 300 s, and GitHub's, `sha256=<hex>` over the body, whose
 * deliveries are told apart by an id that GitHub does not sign.
 */
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { equalInConstantTime } from '../../core/audit/provenance.ts';
import { verifyStandardWebhook } from '../../core/net/standard-webhook.ts';
import { HttpError } from './http-error.ts';

/** How far a signature's time may lie before or after now, in seconds; the library of Standard Webhooks has the same. */
const WINDOW_SECONDS = 300;

export interface SignatureHeaders {
  readonly standard?:
    | {
        readonly id: string | undefined;
        readonly timestamp: string | undefined;
        readonly signature: string | undefined;
      }
    | undefined;
  readonly github: string | undefined;
  readonly githubDelivery: string | undefined;
}

const GITHUB = /^sha256=([0-9a-f]{64})$/;
const DELIVERY = /^[0-9A-Za-z-]{8,64}$/;

const invalid = (code: string, message: string, expected: string) =>
  new HttpError(401, code, message, {
    expected,
    next: 'Sign the exact bytes that you send with the webhook secret.',
  });

const signedBy = (secrets: readonly string[], message: Uint8Array, signature: string) =>
  secrets
    .map((secret) => equalInConstantTime(signature, bytesToHex(hmac(sha256, utf8ToBytes(secret), message))))
    .some(Boolean);

/**
 * Returns the delivery's identity, by which a repeated delivery is recognised. Throws 401 where the signature is missing, malformed,
 * wrong or out of its window.
 */
export function verifySignature(
  headers: SignatureHeaders,
  body: Uint8Array,
  secrets: readonly string[],
  nowSeconds: number,
): string {
  if (headers.standard?.signature !== undefined)
    return verifyStandard(headers.standard, body, secrets, nowSeconds);
  if (headers.github !== undefined) return verifyGithub(headers, body, secrets);
  throw invalid(
    'signature.missing',
    'The request is not signed.',
    'the headers webhook-id, webhook-timestamp and webhook-signature of Standard Webhooks, or GitHub’s x-hub-signature-256',
  );
}

function inWindow(seconds: number, nowSeconds: number): void {
  const off = Math.round(Math.abs(nowSeconds - seconds));
  if (off > WINDOW_SECONDS)
    throw invalid(
      'signature.stale',
      `The signature’s time is ${off} s ${seconds < nowSeconds ? 'before' : 'after'} now.`,
      `a time within ${WINDOW_SECONDS} s of now`,
    );
}

const MESSAGE_ID = /^[\x21-\x7e]{1,128}$/;
const SECONDS = /^\d{1,12}$/;

/** The header may hold several signatures, with spaces between them, as while a secret is rotated. */
function verifyStandard(
  { id = '', timestamp = '', signature = '' }: NonNullable<SignatureHeaders['standard']>,
  body: Uint8Array,
  secrets: readonly string[],
  nowSeconds: number,
): string {
  if (!MESSAGE_ID.test(id) || !SECONDS.test(timestamp))
    throw invalid(
      'signature.malformed',
      'The message’s id or time cannot be read.',
      'webhook-id: at most 128 printable characters; webhook-timestamp: unix seconds',
    );
  // First, since the library tells a wrong time from a wrong signature by its message alone.
  inWindow(Number(timestamp), nowSeconds);
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
  const text = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true }).decode(body);
  const right = secrets.map((secret) => {
    try {
      verifyStandardWebhook(secret, headers, text);
      return true;
    } catch {
      return false;
    }
  });
  if (right.includes(true)) return `standard:${id}`;
  throw invalid(
    'signature.wrong',
    'The signature is not of this message.',
    'v1,<base64 of HMAC-SHA256 over "<webhook-id>.<webhook-timestamp>.<body>">',
  );
}

function verifyGithub(headers: SignatureHeaders, body: Uint8Array, secrets: readonly string[]): string {
  const signature = GITHUB.exec(headers.github ?? '')?.[1];
  if (signature === undefined)
    throw invalid('signature.malformed', 'The signature cannot be read.', 'sha256=<64 hex digits>');
  if (!DELIVERY.test(headers.githubDelivery ?? ''))
    throw invalid(
      'signature.delivery',
      'The delivery id is missing or malformed.',
      'the header x-github-delivery',
    );
  if (!signedBy(secrets, body, signature))
    throw invalid('signature.wrong', 'The signature is not of this body.', 'HMAC-SHA256 over the body');
  return `github:${headers.githubDelivery}`;
}
