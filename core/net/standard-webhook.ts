/**
 * Standard Webhooks (standardwebhooks.com) by the project's own library: three headers sign a message, so that libraries of a dozen languages
 * can send our orders and check our callbacks.
 */
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { Webhook } from 'standardwebhooks';

/** A secret that begins with `whsec_` is base64; any other text is taken as it is. */
const webhookOf = (secret: string): Webhook =>
  secret.startsWith('whsec_') ? new Webhook(secret) : new Webhook(utf8ToBytes(secret), { format: 'raw' });

/** The headers of a signed message. `id`: names the message; a message that is sent again keeps it. */
export const standardHeaders = (
  secret: string,
  id: string,
  seconds: number,
  body: string,
): Record<string, string> => ({
  'webhook-id': id,
  'webhook-timestamp': String(seconds),
  'webhook-signature': webhookOf(secret).sign(id, new Date(seconds * 1000), body),
});

/** Throws the library's `WebhookVerificationError` where the signature is wrong or is not of the last or next five minutes. */
export const verifyStandardWebhook = (
  secret: string,
  headers: Readonly<Record<string, string>>,
  body: string,
): unknown => webhookOf(secret).verify(body, headers, { jsonParse: false });
