/** What a start of searchers that stumble must be able to do: repeat and stop early often and not always, and neither where it reads notes, so that rewards and a teacher have something to teach. */
import { mean } from '../../core/rl/statistics.ts';
import type { AskedPolicy, Gate } from '../gate.ts';
import { STOP } from '../worked.ts';
import { parseTurn, pathQuestions, theWorld, writeFindings, writeNotes } from './episode.ts';
import { FINDINGS, solverPrompt, writeSearch } from './proposal.ts';
import { parseQuestion } from './question.ts';
import { searching } from './searching.ts';

/** Questions over three documents that each share is measured on. */
const QUESTIONS = 96;

/** A question over three documents with the searches on the way to its answer. */
function asked(task: string) {
  const parsed = parseQuestion(task);
  if (!parsed.ok) throw new Error(`internal: a question is ${parsed.reason}`);
  const { path, base } = parsed.value;
  const { graph, index } = theWorld();
  const queries: string[] = [];
  let at = String(base);
  for (const relation of [...path].reverse()) {
    queries.push(`${relation} ${at}`);
    at = graph.object(at, relation)!;
  }
  const found = queries.map((query) => index.search(query, FINDINGS));
  return { task, queries, found, notes: writeNotes(found.flat()) };
}

export async function gates({ tokenizer, generate }: AskedPolicy): Promise<Gate[]> {
  const all = pathQuestions(theWorld(), 3, true).slice(0, QUESTIONS).map(asked);
  /** The share of the questions after these searches whose next one is that of the number `next`. */
  const share = async (made: readonly number[], next: number, temperature: number, isNoted = false) => {
    const prompts = all.map(
      ({ task, queries, found, notes }) =>
        (isNoted ? notes : '') +
        solverPrompt(task) +
        made.map((s) => writeSearch(queries[s]!) + writeFindings(found[s]!)).join(''),
    );
    const written = await generate(
      prompts.map((prompt, p) => ({ ids: tokenizer.encode(prompt), sampleIds: [`gate/${p}`] })),
      { maxNew: searching.words.search.maxNew, temperature, stop: [tokenizer.id(STOP)] },
    );
    return mean(
      written.map(([completion], q) => {
        const turn = parseTurn(tokenizer.decode(completion!.ids));
        return Number(turn.ok && turn.value.kind === 'search' && turn.value.text === all[q]!.queries[next]);
      }),
    );
  };
  return [
    {
      description: 'first searches that the question needs, greedy',
      value: await share([], 0, 0),
      least: 0.9,
    },
    { description: 'first searches that are repeated', value: await share([0], 0, 1), least: 0.2, most: 0.5 },
    {
      description: 'repeated searches after which the question goes on',
      value: await share([0, 0], 1, 1),
      least: 0.7,
    },
    {
      description: 'questions of three documents that go on after the second',
      value: await share([0, 1], 2, 1),
      least: 0.15,
      most: 0.5,
    },
    {
      description: 'the same where the documents are noted, greedy',
      value: await share([0, 1], 2, 0, true),
      least: 0.9,
    },
    {
      description: 'second searches where the documents are noted, greedy',
      value: await share([0], 1, 0, true),
      least: 0.9,
    },
  ];
}
