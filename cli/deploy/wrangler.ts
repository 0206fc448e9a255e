/**
 * Wrangler as one function: it takes arguments and standard input and returns exit status and output. Everything that a deployment
 * does to Cloudflare goes through it, so that tests replace Cloudflare only here.
 */
import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { RollmeshError } from '../../core/errors.ts';

export interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs wrangler. It does not throw if wrangler reports a failure. Secrets go through `stdin`, never through `args`. */
export type RunWrangler = (args: readonly string[], stdin?: string) => Promise<Answer>;
/** Binds wrangler to an account; `undefined` where the account is not known yet. */
export type ConnectWrangler = (account: string | undefined) => RunWrangler;

/** @param command the program and its first arguments, such as node and the path of wrangler's script */
export const wranglerProcess =
  (command: readonly string[], cwd: string): ConnectWrangler =>
  (account) =>
  (args, stdin = '') =>
    new Promise((resolve, reject) => {
      const [program, ...first] = command;
      const child = spawn(program!, [...first, ...args], {
        cwd,
        // With CI set, wrangler takes the defaults instead of asking questions.
        env: {
          ROLLMESH_DEPLOY: '1',
          ...process.env,
          CI: '1',
          NO_COLOR: '1',
          WRANGLER_SEND_METRICS: 'false',
          ...(account === undefined ? {} : { CLOUDFLARE_ACCOUNT_ID: account }),
        },
        stdio: ['pipe', 'pipe', 'pipe'],
      });
      let [stdout, stderr] = ['', ''];
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      child.once('error', reject);
      child.once('close', (code) =>
        resolve({
          code: code ?? 1,
          stdout: stripVTControlCharacters(stdout),
          stderr: stripVTControlCharacters(stderr),
        }),
      );
      // A child may end without reading its input; that is no error here, since its exit status says what happened.
      child.stdin.on('error', () => {});
      child.stdin.end(stdin);
    });

export const saidBy = ({ stdout, stderr }: Answer): string => `${stdout}\n${stderr}`;

const NOT_LOGGED_IN =
  /"loggedIn":\s*false|not authenticated|CLOUDFLARE_API_TOKEN environment variable for wrangler to work|Authentication error|Invalid access token|\[code: (?:9109|10000|10001)\]/;
const OFFLINE =
  /Unable to resolve Cloudflare's API hostname|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|fetch failed/;
/** What a failure is followed by where a deployment goes on. */
export const AGAIN =
  'Then run `npx rollmesh deploy` again: it goes on where it stopped, and what is done stays done.';

/** The reason that wrangler gives for its failure, in one line. */
function cause(answer: Answer): string {
  const lines = saidBy(answer)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line && !/Logs were written to|^⛅|^─+$/u.test(line));
  const from = lines.findIndex((line) => /\[ERROR\]/.test(line));
  const told = (from < 0 ? lines.slice(-2) : lines.slice(from, from + 3)).join(' ');
  return told.replace(/^.*?\[ERROR\]\s*/, '').slice(0, 500) || 'it said nothing';
}

/** The error for a failed wrangler command, by what the operator can do about it. `hidden` never appears in its text. */
export function wranglerFailure(
  args: readonly string[],
  answer: Answer,
  hidden: readonly string[] = [],
): RollmeshError {
  const said = saidBy(answer);
  if (OFFLINE.test(said))
    return new RollmeshError('retry', 'deploy.offline', 'Cloudflare cannot be reached.', {
      next: `See that this machine has a connection. ${AGAIN}`,
    });
  if (NOT_LOGGED_IN.test(said))
    return new RollmeshError('wrong-input', 'deploy.login', 'You are not logged in to Cloudflare.', {
      expected: '`npx wrangler login`, or CLOUDFLARE_API_TOKEN with the permissions listed in docs/deploy.md',
      next: `${args[0] === 'whoami' ? '' : `It refused \`wrangler ${args.join(' ')}\`: ${scrub(cause(answer), hidden)}. `}${AGAIN}`,
    });
  return new RollmeshError(
    'give-up',
    'deploy.wrangler',
    `\`wrangler ${args.join(' ')}\` failed (exit status ${answer.code}): ${scrub(cause(answer), hidden)}`,
    { next: `Mend that. ${AGAIN}` },
  );
}

const scrub = (text: string, hidden: readonly string[]): string =>
  hidden.reduce((rest, value) => rest.replaceAll(value, '…'), text);

/** Returns the standard output of a command; throws if the command fails. */
export async function must(
  run: RunWrangler,
  args: readonly string[],
  input?: { readonly stdin: string; readonly hidden: readonly string[] },
): Promise<string> {
  const answer = await run(args, input?.stdin);
  if (answer.code !== 0) throw wranglerFailure(args, answer, input?.hidden);
  return answer.stdout;
}

/** Returns the standard output of a command, or null where it fails because the thing it asks for does not exist. */
export async function unlessMissing(
  run: RunWrangler,
  args: readonly string[],
  missing: RegExp,
): Promise<string | null> {
  const answer = await run(args);
  if (answer.code === 0) return answer.stdout;
  if (missing.test(saidBy(answer))) return null;
  throw wranglerFailure(args, answer);
}

/** Parses the JSON that a command printed; lines before it, such as a banner, are skipped. */
export function jsonIn(args: readonly string[], stdout: string): unknown {
  const at = stdout.search(/^[[{]/m);
  try {
    return JSON.parse(stdout.slice(Math.max(at, 0)));
  } catch (error) {
    throw new RollmeshError(
      'give-up',
      'deploy.output',
      `\`wrangler ${args.join(' ')}\` printed no JSON that can be read.`,
      { expected: 'the wrangler that package-lock.json names', next: 'Run `npm ci`.', cause: error },
    );
  }
}
