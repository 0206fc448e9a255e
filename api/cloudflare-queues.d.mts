/**
 * What is used of Cloudflare's REST client: 60 kB of 120 MB. `npm run build:clients` bundles it into cloudflare-queues.mjs, since loading all of the
 * client takes 0.4 s of a core. These are its types, and what the bundle is made from.
 */
export { APIError } from 'cloudflare/core/error';
export { BaseMessages, type MessageAckParams } from 'cloudflare/resources/queues/messages';
export { createClient } from 'cloudflare/tree-shakable';
