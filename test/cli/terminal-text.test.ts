/** What reaches a terminal: untrusted text as text, failures of the machine as messages. */
import { expect, test } from 'vitest';
import { expectedFailure } from '../../cli/expected-failure.ts';
import { printable, printableLines } from '../../cli/printable.ts';
import { roundLines } from '../../cli/start/progress.ts';
import { parseConfig } from '../../model/config.ts';

const ESC = '\u001b';
/** Title, screen, C1 introducer, reordering, carriage return: each does something to a terminal. */
const HOSTILE = [
  `${ESC}]0;owned\u0007`,
  `${ESC}[2J`,
  '\u009b31m',
  'a\u202eb',
  'ok\rfailed',
  'a\u2028b',
  '\u007f',
];

test.each(HOSTILE)('%j is shown, not obeyed', (text) => {
  for (const shown of [printable(text), printableLines(text)]) {
    expect(shown).not.toMatch(/[\p{Cc}\p{Bidi_Control}\p{Zl}]/u);
    expect(shown).toContain('\\u{');
  }
});

test('text stays text, in every script', () => {
  const text = 'Größe 漢字 עברית 👩‍🔬 “x” → 3 %';
  expect(printable(text)).toBe(text);
  expect(printableLines(`a\n\tb ${text}`)).toBe(`a\n\tb ${text}`);
  expect(printable('a\nb')).toBe('a\\u{0a}b');
});

test('a warning with a name from a file is printed as text', () => {
  const line = {
    kind: 'round' as const,
    round: 1,
    from: 0,
    to: 1,
    groups: { proposed: 1, admitted: 1, scored: 1, trained: 1, stale: 0, failed: 0 },
    report: { warnings: [`group ${ESC}[2J was refused`] },
    wallMs: 1,
  };
  const text = roundLines(line, { rounds: 1, start: null }).join('\n');
  expect(text).toContain('group \\u{1b}[2J was refused');
  expect(text).not.toContain(ESC);
});

test('the message about a model of another type holds its name as text', () => {
  const config = {
    model_type: `x${ESC}[2J`,
    vocab_size: 8,
    hidden_size: 8,
    intermediate_size: 8,
    num_hidden_layers: 1,
    num_attention_heads: 1,
    max_position_embeddings: 8,
  };
  let message = '';
  try {
    parseConfig(config);
  } catch (error) {
    message = printableLines(String(error));
  }
  expect(message).toContain('is not read');
  expect(message).not.toContain(ESC);
});

const system = (code: string, path?: string) =>
  Object.assign(new Error(`${code}: as Node says it`), { code, ...(path ? { path } : {}) });

test.each([
  [system('ENOSPC', 'state/mesh.log'), 'disk.full: The disk is full at state/mesh.log. Expected room'],
  [system('ENOSPC'), 'disk.full: The disk is full. Expected room'],
  [system('EROFS', 'x'), 'file.denied: This user may not write at x: EROFS.'],
  [system('EMFILE'), 'file.many: Too many files are open.'],
  [
    system('ERR_ADDRESS_IN_USE'),
    'start.port: The port of the mesh was taken while it started. Expected a port',
  ],
  [system('ERR_RUNTIME_FAILURE'), 'mesh.start: The runtime of the mesh'],
  [
    Object.assign(new Error("Cannot find package 'miniflare' imported from /x.js"), {
      code: 'ERR_MODULE_NOT_FOUND',
    }),
    'install.optional: The package miniflare is not installed here. Expected an installation with its optional',
  ],
])('%s', (error, description) => {
  const failure = expectedFailure(error);
  expect(`${failure?.code}: ${failure?.message}`).toContain(description);
});

test('a bug stays a bug', () => {
  expect(expectedFailure(new TypeError('x is not a function'))).toBeUndefined();
  expect(expectedFailure('text')).toBeUndefined();
  const ours = Object.assign(new Error("Cannot find package 'x'"), { code: 'ERR_MODULE_NOT_FOUND' });
  expect(expectedFailure(ours)).toBeUndefined();
});
