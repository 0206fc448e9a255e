/** Webhook signatures against node:crypto, which did not write the verifier. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { standardHeaders } from '../../core/net/standard-webhook.ts';
import { HttpError } from '../../workers/gateway/http-error.ts';
import { type SignatureHeaders, verifySignature } from '../../workers/gateway/signature.ts';

const SECRET = 'a-secret-of-some-length';
const NOW = 1_800_000_000;
// The library of Standard Webhooks reads the clock itself.
beforeAll(() => vi.useFakeTimers({ now: NOW * 1000, toFake: ['Date'] }));
afterAll(() => vi.useRealTimers());
const bytes = new TextEncoder().encode('{"recipe":"trio"}');
const hmac = (secret: string, text: string) => createHmac('sha256', secret).update(text).digest('hex');
const github = `sha256=${hmac(SECRET, '{"recipe":"trio"}')}`;

const verify = (headers: Partial<SignatureHeaders>, secrets = [SECRET]) =>
  verifySignature({ github: undefined, githubDelivery: undefined, ...headers }, bytes, secrets, NOW);
const codeOf = (headers: Partial<SignatureHeaders>, secrets?: string[]) => {
  try {
    return verify(headers, secrets);
  } catch (error) {
    return error instanceof HttpError ? `${error.status} ${error.code}` : String(error);
  }
};

test('a good signature of GitHub names its delivery', () => {
  expect(verify({ github, githubDelivery: '72d3162e-cc78-11e3-81ab-4c9367dc0958' })).toBe(
    'github:72d3162e-cc78-11e3-81ab-4c9367dc0958',
  );
});

test.each([
  ['no signature', {}, '401 signature.missing'],
  ['GitHub without delivery', { github }, '401 signature.delivery'],
  [
    'GitHub with a path as delivery',
    { github, githubDelivery: '../../etc/passwd' },
    '401 signature.delivery',
  ],
  [
    'GitHub, wrong',
    { github: `sha256=${'0'.repeat(64)}`, githubDelivery: 'abcdefgh' },
    '401 signature.wrong',
  ],
  [
    'GitHub, SHA-1',
    { github: `sha1=${'0'.repeat(40)}`, githubDelivery: 'abcdefgh' },
    '401 signature.malformed',
  ],
])('refused: %s', (_, headers, expected) => {
  expect(codeOf(headers)).toBe(expected);
});

/** Standard Webhooks, by node:crypto: HMAC-SHA256 over "id.time.body", in base64. */
const standard = (
  time: number,
  { secret = SECRET as string | Buffer, id = 'msg_1', text = '{"recipe":"trio"}' } = {},
) => ({
  standard: {
    id,
    timestamp: String(time),
    signature: `v1,${createHmac('sha256', secret).update(`${id}.${time}.${text}`).digest('base64')}`,
  },
});

test('Standard Webhooks: the id names the delivery, and id, time and body are all signed', () => {
  expect(verify(standard(NOW))).toBe('standard:msg_1');
  expect(codeOf(standard(NOW, { text: '{}' }))).toBe('401 signature.wrong');
  const { id, timestamp, signature } = standard(NOW).standard;
  expect(codeOf({ standard: { id: 'msg_2', timestamp, signature } })).toBe('401 signature.wrong');
  expect(codeOf({ standard: { id, timestamp: String(NOW + 1), signature } })).toBe('401 signature.wrong');
  expect(codeOf({ standard: { id: undefined, timestamp, signature } })).toBe('401 signature.malformed');
  expect(codeOf(standard(NOW - 301))).toBe('401 signature.stale');
  expect(codeOf(standard(NOW + 301))).toBe('401 signature.stale');
  expect(() => verify(standard(NOW - 301))).toThrow('301 s before now');
  expect(() => verify(standard(NOW + 400))).toThrow('400 s after now');
  expect(codeOf(standard(NOW - 301, { text: '{}' }))).toBe('401 signature.stale');
  expect(verify(standard(NOW - 300))).toBe('standard:msg_1');
  for (const wrong of ['', 'v1', 'v1,', 'v2,AAAA', `v1,${'A'.repeat(43)}=`])
    expect(codeOf({ standard: { id, timestamp, signature: wrong } })).toBe('401 signature.wrong');
});

/** The example in the tests of the project's own libraries. */
test('Standard Webhooks: the published example is signed and verified', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const [id, time, text] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}'] as const;
  const headers = standardHeaders(secret, id, time, text);
  expect(headers['webhook-signature']).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=');
  const signed = { id, timestamp: String(time), signature: headers['webhook-signature'] };
  vi.setSystemTime(time * 1000);
  const none = { github: undefined, githubDelivery: undefined };
  const body = new TextEncoder().encode(text);
  expect(verifySignature({ ...none, standard: signed }, body, [secret], time)).toBe(`standard:${id}`);
  vi.setSystemTime(NOW * 1000);
});

test('Standard Webhooks: while secrets are rotated both are good, and afterwards one', () => {
  const old = standard(NOW, { secret: 'the-older-secret-of-ours' });
  expect(verify(old, [SECRET, 'the-older-secret-of-ours'])).toBe('standard:msg_1');
  expect(codeOf(old)).toBe('401 signature.wrong');
});

test('Standard Webhooks: one of several signatures is enough, and a secret with whsec_ is base64', () => {
  const { id, timestamp, signature } = standard(NOW).standard;
  expect(verify({ standard: { id, timestamp, signature: `v1a,x v1,AAAA ${signature}` } })).toBe(
    'standard:msg_1',
  );
  const key = Buffer.from('0123456789abcdef01234567');
  expect(verify(standard(NOW, { secret: key }), [`whsec_${key.toString('base64')}`])).toBe('standard:msg_1');
});
