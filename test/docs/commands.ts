/** The commands that stand in the documentation: those of shell blocks and of inline code, in words as a shell makes them. */
import { readdirSync, readFileSync } from 'node:fs';

export interface Documented {
  readonly page: string;
  readonly line: string;
  /** Of a block that is to be copied, and so complete; an inline mention may leave arguments out. */
  readonly whole: boolean;
  /** A line of usage, with words to be filled in and all that is optional: it is parsed, and not run. */
  readonly usage: boolean;
}

/** Pages for readers. Decisions are history: their commands were right when they were written. */
export const PAGES = [
  'README.md',
  'CONTRIBUTING.md',
  ...readdirSync('docs')
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`),
  'examples/guest/README.md',
  'examples/tasks/README.md',
  'examples/world/README.md',
  'examples/reasoning-gym/README.md',
];

/** A line of usage as one command: what is optional is there, and of alternatives the first. */
const firstForm = (usage: string): string =>
  usage.replaceAll(/\|[^\s\]]+/g, '').replaceAll(/(?<=\s)\[(--[^\]]*)\]|\[[^\]]*\]/g, '$1');

const PROGRAMS = /^(?:\( *)?(?:[A-Z_]+=\S* )*(?:npm|npx|node)\b/;

/** A block's lines, without comments; a line that ends with a backslash goes on in the next. */
const linesOf = (block: string): string[] =>
  block
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .map((line) => line.replace(/(^|\s+)# .*$/, '').trim())
    .filter(Boolean);

export const documented = (page: string): Documented[] => {
  const text = readFileSync(page, 'utf8');
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].flatMap(([, block]) => linesOf(block!));
  const usage = [...text.matchAll(/^```\n(npx [\s\S]*?)^```/gm)].flatMap(([, block]) => linesOf(block!));
  const inline = [...text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/`([^`\n]+)`/g)]
    .map(([, code]) => code!)
    .filter((code) => PROGRAMS.test(code));
  return [
    ...blocks.map((line) => ({ page, line, whole: true, usage: false })),
    ...usage.map((line) => ({ page, line: firstForm(line), whole: true, usage: true })),
    ...inline.map((line) => ({ page, line: firstForm(line), whole: false, usage: false })),
  ];
};

/** The words of a line, by the quotes of a shell; a line of several commands is one list for each. */
export function commandsOf(line: string): string[][] {
  const commands: string[][] = [[]];
  const unredirected = line.replaceAll(/\s+[12]?>{1,2} *\S+/g, '');
  for (const [part, single, double] of unredirected.matchAll(
    /'([^']*)'|"([^"]*)"|&&|\|\||[;()|]|(?:[^\s;()|&'"]|&(?!&))+/g,
  )) {
    if (['&&', '||', ';', '(', ')', '|'].includes(part)) commands.push([]);
    else commands.at(-1)!.push(single ?? double ?? part);
  }
  // Variables that are set for one command are no part of it.
  return commands
    .map((words) => words.slice(words.findIndex((word) => !/^[A-Z_]+=/.test(word))))
    .filter((words) => words.length > 0);
}
