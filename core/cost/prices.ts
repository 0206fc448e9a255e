/**
 * Cloudflare's published prices for what a mesh uses, US dollars, as on the pages below on 2026-11-21. They are the prices beyond what
 * the plan includes, so that a cost is what one round more costs; the plan itself (5 dollars a month, with its included amounts) is left out.
 */
export const PRICES = {
  asOf: '2026-11-21',
  sources: [
    'https://developers.cloudflare.com/workers/platform/pricing/',
    'https://developers.cloudflare.com/queues/platform/pricing/',
    'https://developers.cloudflare.com/d1/platform/pricing/',
    'https://developers.cloudflare.com/r2/pricing/',
  ],
  perMillion: {
    requests: 0.3,
    cpuMs: 0.02,
    queueOperations: 0.4,
    d1RowsRead: 0.001,
    d1RowsWritten: 1,
    r2ClassA: 4.5,
    r2ClassB: 0.36,
  },
  /** Price per stored decimal gigabyte and month. Reading an object costs no more than the operation: there is no charge for egress. */
  storedGigabyteMonth: 0.015,
} as const;

/** One queue operation moves up to so many bytes; a message carries about 100 bytes of the queue's own. */
export const QUEUE_OPERATION_BYTES = 64_000;
export const QUEUE_MESSAGE_OVERHEAD = 100;

/** Operations that writing, reading or deleting one message of so many bytes counts as. */
export const queueOperations = (bytes: number): number =>
  Math.max(1, Math.ceil((bytes + QUEUE_MESSAGE_OVERHEAD) / QUEUE_OPERATION_BYTES));
