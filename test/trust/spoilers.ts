/**
 * One thing wrong with an otherwise right request. Each spoiler's promise is that the gateway must refuse what it returns;
 * that is the oracle of the hostile tests.
 */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import type { RawRequest } from './requests.ts';

export type Spoiler = fc.Arbitrary<(request: RawRequest) => RawRequest>;

const text = (value: string) => new TextEncoder().encode(value);
/** Bytes that are no UTF-8 are signed as the gateway reads them, so that they get as far as its parser. */
const readable = (body: Uint8Array) => new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);

/** Flips one character of a string at a place. */
const changed = (value: string, at: number) => {
  const i = at % value.length;
  return value.slice(0, i) + (value[i] === '0' ? '1' : '0') + value.slice(i + 1);
};

export const withHeader =
  (name: string, value: string | null) =>
  (request: RawRequest): RawRequest => {
    const { [name]: _, ...others } = request.headers;
    return { ...request, headers: value === null ? others : { ...others, [name]: value } };
  };

/** The three headers of Standard Webhooks, not by the library that the gateway checks them with. */
export const signStandard =
  (secret: string, id: string, seconds: number) =>
  (request: RawRequest): RawRequest => {
    const sum = createHmac('sha256', secret).update(`${id}.${seconds}.${readable(request.body)}`);
    return {
      ...request,
      headers: {
        ...request.headers,
        'webhook-id': id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': `v1,${sum.digest('base64')}`,
      },
    };
  };

export const signGithub =
  (secret: string, delivery: string) =>
  (request: RawRequest): RawRequest => ({
    ...request,
    headers: {
      ...request.headers,
      'x-hub-signature-256': `sha256=${createHmac('sha256', secret).update(request.body).digest('hex')}`,
      'x-github-delivery': delivery,
    },
  });

/** Wrong tokens: near misses of the right one, and other secrets of the mesh. */
export const wrongTokens = (token: string, others: readonly string[]): Spoiler =>
  fc
    .oneof(
      fc.constantFrom(
        null,
        '',
        'Bearer',
        'Bearer ',
        `Basic ${token}`,
        `bearer ${token}`,
        `Bearer  ${token}`,
        token,
      ),
      fc.constantFrom(
        `Bearer ${token}, Bearer ${token}`,
        `Bearer ${token}\t`,
        ...others.map((other) => `Bearer ${other}`),
      ),
      fc.nat(63).map((at) => `Bearer ${changed(token, at)}`),
      fc.nat(62).map((cut) => `Bearer ${token.slice(0, cut)}`),
      fc.nat(9).map((digit) => `Bearer ${token}${digit}`),
    )
    // A trailing tab is no part of a header's value: HTTP takes it away.
    .filter((value) => value !== `Bearer ${token}\t`)
    .map((value) => withHeader('authorization', value));

/** Changes a header that the request has. */
const over =
  (name: string, change: (value: string) => string) =>
  (request: RawRequest): RawRequest =>
    withHeader(name, change(request.headers[name] ?? ''))(request);

/** Wrong signatures of a body that is right. `now` in seconds. */
export const wrongSignatures = (secret: string, others: readonly string[], now: () => number): Spoiler => {
  const [id, time, name] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
  const nothing = `v1,${'0'.repeat(43)}=`;
  const signedAs = (by: string, message: string, away: number) => (request: RawRequest) =>
    signStandard(by, message, Math.floor(now()) + away)(request);
  return fc.oneof(
    fc.constantFrom(
      withHeader(name, null),
      withHeader(name, ''),
      withHeader(name, 'v1'),
      withHeader(name, 'v1,'),
      withHeader(name, nothing),
      over(name, (value) => value.toUpperCase()),
      over(name, (value) => value.toLowerCase()),
      over(name, (value) => value.replace('v1,', 'v0,')),
      over(name, (value) => value.replace('v1,', 'v1a,')),
      over(name, (value) => value.replace('v1,', 'V1,')),
      over(name, (value) => value.replace('v1,', 'v1=')),
      over(name, (value) => value.replace('v1,', '')),
      over(name, (value) => value.slice(0, -1)),
      over(name, (value) => `${value}0`),
      over(name, (value) => `${value}=`),
      over(name, (value) => `v1,${Buffer.from(value.slice(3), 'base64').toString('hex')}`),
      // A list is right where one of it is; here none is, or it is no list.
      over(name, (value) => `${nothing} ${value.replace('v1,', 'v0,')} v1,`),
      over(name, (value) => `${nothing},${value}`),
      over(name, (value) => `${value};${nothing}`),
    ),
    fc.constantFrom(
      withHeader(time, null),
      withHeader(time, ''),
      over(time, (value) => `-${value}`),
      over(time, (value) => `+${value}`),
      over(time, (value) => `${value}.5`),
      over(time, (value) => `${value}000`),
      over(time, (value) => `${Number(value) + 1}`),
      over(time, (value) => `${Number(value) - 1}`),
      over(time, (value) => new Date(Number(value) * 1000).toISOString()),
    ),
    fc.constantFrom(
      withHeader(id, null),
      withHeader(id, ''),
      withHeader(id, 'another'),
      over(id, (value) => `${value}0`),
      over(id, (value) => value.slice(0, -1)),
      over(id, (value) => value.toUpperCase()),
      // The signature of another message, and those of ids that none may have.
      (request: RawRequest) =>
        withHeader(id, request.headers[id] ?? '')(signedAs(secret, 'another', 0)(request)),
      signedAs(secret, '', 0),
      signedAs(secret, 'a b', 0),
      signedAs(secret, 'x'.repeat(129), 0),
    ),
    fc.nat(43).map((at) => over(name, (value) => `v1,${changed(value.slice(3), at)}`)),
    fc.constantFrom(...others).map((other) => signedAs(other, 'by-another', 0)),
    fc
      .integer({ min: 310, max: 1_000_000_000 })
      .chain((away) => fc.constantFrom(away, -away))
      .map((away) => signedAs(secret, 'stale', away)),
    // The body is changed after it was signed.
    fc.nat(200).map((at) => (request: RawRequest) => {
      const body = request.body.slice();
      body[at % body.length]! ^= 1;
      return { ...request, body };
    }),
    fc.constantFrom(
      (request: RawRequest) => ({ ...request, body: text(`${readable(request.body)} `) }),
      (request: RawRequest) => ({ ...request, body: text(`\ufeff${readable(request.body)}`) }),
    ),
    // GitHub's signature does not help where this one is there and wrong.
    fc
      .constantFrom('', nothing)
      .map(
        (value) => (request: RawRequest) =>
          withHeader(name, value)(signGithub(secret, 'a-delivery-0')(request)),
      ),
  );
};

export const wrongGithub = (others: readonly string[]): Spoiler => {
  const name = 'x-hub-signature-256';
  return fc.oneof(
    fc.constantFrom(
      withHeader(name, null),
      over(name, (value) => value.replace('sha256=', 'sha1=')),
      over(name, (value) => value.replace('sha256=', '')),
      over(name, (value) => value.toUpperCase()),
      withHeader('x-github-delivery', null),
      withHeader('x-github-delivery', ''),
      withHeader('x-github-delivery', '../../etc/passwd'),
      withHeader('x-github-delivery', 'x'.repeat(65)),
    ),
    fc.nat(63).map((at) => over(name, (value) => `sha256=${changed(value.slice(7), at)}`)),
    fc.constantFrom(...others).map((other) => signGithub(other, 'a-delivery-1')),
  );
};

/** Values that no field of an order takes. */
const NO_VALUE: readonly unknown[] = [
  null,
  true,
  -1,
  0.5,
  1e300,
  '',
  'UPPER',
  'a/b',
  '../x',
  'x'.repeat(70),
  [],
  {},
  [[]],
];

const BROKEN: readonly Uint8Array[] = [
  text(''),
  text('null'),
  text('[]'),
  text('"trio"'),
  text('{"recipe":"trio"'),
  text('{"recipe":"trio"}}'),
  text("{'recipe':'trio'}"),
  text('{"recipe":"trio",}'),
  text('{"recipe":NaN}'),
  text('\u0000'),
  text(`{"recipe":${'['.repeat(30_000)}`),
  text(`{"recipe":"trio","x":${'['.repeat(20_000)}${']'.repeat(20_000)}}`),
  text('{"__proto__":{"recipe":"trio"}}'),
  text('{"constructor":{"prototype":{"recipe":"trio"}}}'),
  // Right JSON, in UTF-16; with a broken byte; with an overlong encoding of a quote.
  new Uint8Array(Buffer.from('{"recipe":"trio"}', 'utf16le')),
  new Uint8Array([...text('{"recipe":"tri'), 0xff, ...text('"}')]),
  new Uint8Array([...text('{'), 0xc0, 0xa2, ...text('recipe":"trio"}')]),
  // Right in every way but its size.
  text(`{"recipe":"trio"${' '.repeat(70_000)}}`),
];

/** Bodies that are no order; they must be signed afterwards. */
export const wrongOrders: Spoiler = fc
  .oneof(
    fc.constantFrom(...BROKEN),
    fc
      .tuple(
        fc.constantFrom(
          'recipe',
          'seed',
          'rounds',
          'policy',
          'rewardFunction',
          'freeze',
          'tasks',
          'groupSize',
        ),
        fc.constantFrom(...NO_VALUE),
      )
      // An empty list of frozen roles is right.
      .filter(([field, value]) => !(field === 'freeze' && JSON.stringify(value) === '[]'))
      .map(([field, value]) =>
        text(JSON.stringify({ recipe: 'trio', tasks: 1, groupSize: 2, [field]: value })),
      ),
    fc
      .string({ minLength: 1, maxLength: 12 })
      .filter(
        (field) =>
          !['recipe', 'seed', 'rounds', 'policy', 'rewardFunction', 'freeze', 'tasks', 'groupSize'].includes(
            field,
          ),
      )
      .map((field) => text(JSON.stringify({ recipe: 'trio', tasks: 1, groupSize: 2, [field]: 1 }))),
    fc.uint8Array({ maxLength: 200 }),
    fc.json().map(text),
    fc
      .tuple(
        fc.constantFrom('tasks', 'groupSize', 'rounds', 'seed'),
        fc.constantFrom('4097', '65', '10001', '1e16', '1e999', '"1"', '01'),
      )
      .filter(([field, value]) => !(field === 'seed' && ['4097', '65', '10001'].includes(value)))
      .filter(([field, value]) => !(field === 'tasks' && value === '65'))
      .filter(([field, value]) => !(field === 'rounds' && ['4097', '65'].includes(value)))
      .map(([field, value]) => text(`{"recipe":"trio","${field}":${value}}`)),
  )
  .map((body) => (request: RawRequest) => ({ ...request, body }));

/** Another method than the route's. */
export const wrongMethods: Spoiler = fc
  .constantFrom('DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'TRACE')
  .map((method) => (request: RawRequest) => ({ ...request, method }));

const TRICKS = [
  '..',
  '.',
  '%2e%2e',
  '%2e%2e%2f%2e%2e',
  '..%5c..',
  '%00',
  '%ff',
  '%',
  '%zz',
  '%252e%252e',
  '-1',
  '1e3',
  '0x10',
  '+1',
  '9007199254740993',
  'NaN',
  'Seed',
  'constructor',
  '__proto__',
  'x'.repeat(300),
  '%F0%9F%A6%9C',
  "';DROP%20TABLE%20rounds;--",
];

/** One segment of the path, from `first` on, becomes a trick; or the path is lengthened. */
export const wrongPaths = (first: number): Spoiler =>
  fc.oneof(
    fc.tuple(fc.nat(10), fc.constantFrom(...TRICKS)).map(([place, trick]) => (request: RawRequest) => {
      const parts = request.path.split('/');
      const i = first + (place % (parts.length - first));
      return { ...request, path: parts.map((part, j) => (j === i ? trick : part)).join('/') };
    }),
    fc
      .constantFrom('/', '/..', '/x', '//', '/%2e', '%20', '%00', ';x', '/../..')
      .map((tail) => (request: RawRequest) => ({ ...request, path: request.path + tail })),
  );

/** Too much of it, before anything is read. */
export const tooMuch: Spoiler = fc.constantFrom(
  (request: RawRequest) => ({ ...request, path: `${request.path}?${'x'.repeat(3000)}` }),
  withHeader('x-padding', 'x'.repeat(17_000)),
  withHeader('cookie', 'a=b; '.repeat(4000)),
);
