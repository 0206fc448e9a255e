/**
 * Conversations that the policy `words` is pre-trained on: questions with and without steps, hints, second attempts after feedback, verdicts with
 * reasons, new questions, and text that only teaches to read and to calculate. Nothing of the evaluation files is in them (reserved.ts).
 */
import type { Random } from '../../core/random.ts';
import type { Message } from '../../core/renderer/message.ts';
import { proposerMessages, retryMessages, verifierMessages } from '../../core/renderer/role-messages.ts';
import { openTemplate } from '../../core/renderer/template.ts';
import type { Demonstration } from '../demonstration.ts';
import { drawQuestion, FAMILIES, type Family, type WordQuestion } from './questions.ts';
import { drawReading } from './reading.ts';
import { END, WORDS_TEMPLATE } from './template.ts';

/** How often a question of each family is drawn. */
const SHARES: Readonly<Record<Family, number>> = {
  basic_arithmetic: 3,
  chain_sum: 2.2,
  gcd: 1.6,
  products: 2.6,
  simple_equations: 2.2,
  countdown: 1.3,
};
/** Share of the answers that write their steps. */
export const WORKED = 0.65;
/** Share of the questions in reasoning-gym's wording. */
const VERBATIM = 0.8;

const FORMS = [
  ['answer', 0.66],
  ['drill', 0.12],
  ['reading', 0.07],
  ['verdict', 0.07],
  ['second try', 0.04],
  ['hint', 0.02],
  ['proposal', 0.02],
] as const;

const user = (content: string): Message => ({ role: 'user', content });

export const writeAnswer = (steps: readonly string[], answer: string, worked: boolean): string =>
  `${worked && steps.length ? `<think>${steps.join('\n')}</think>` : ''}<answer>${answer}</answer>`;

/** Another number in place of the last one of a line. */
function slip(random: Random, line: string): string {
  return line.replace(/\d+(?=\D*$)/, (digits) => {
    const number = Number(digits);
    const other = Math.max(0, number + random.pick([-10, -2, -1, 1, 2, 10]));
    return String(other === number ? number + 1 : other);
  });
}

/** A wrong solution: an error in the last step that the answer depends on, in the answer alone, or in a step. */
function spoiled(random: Random, { steps, answer }: WordQuestion): { steps: string[]; answer: string } {
  const [last] = steps.slice(-1);
  const wrong = slip(random, answer);
  if (last === undefined || random.bool(0.3)) return { steps: [...steps], answer: wrong };
  const follows = last.endsWith(`=${answer}`);
  const spoilt = follows ? `${last.slice(0, last.length - answer.length)}${wrong}` : slip(random, last);
  return { steps: [...steps.slice(0, -1), spoilt], answer: follows ? wrong : slip(random, answer) };
}

/** A verdict with its reasons: every step that was shown, up to the first wrong one, then the answer. */
function verdict(
  right: Pick<WordQuestion, 'steps' | 'answer'>,
  shown: Pick<WordQuestion, 'steps' | 'answer'>,
  worked: boolean,
): string {
  const lines: string[] = [];
  for (const [i, step] of right.steps.entries()) {
    const other = worked ? shown.steps[i] : step;
    if (other === step) lines.push(worked ? `${step} ok` : step);
    else {
      lines.push(`${other} wrong, ${step}`);
      return writeAnswer(lines, 'no', true);
    }
  }
  const isRight = shown.answer === right.answer;
  lines.push(isRight ? `${shown.answer} ok` : `${shown.answer} wrong, ${right.answer}`);
  return writeAnswer(lines, isRight ? 'yes' : 'no', true);
}

interface Conversation {
  readonly role: string;
  readonly messages: readonly Message[];
  readonly reply: string;
}

const SYSTEM = [
  'You are a careful calculator.',
  'Answer the question. Write the answer in <answer> tags.',
  'Write your steps in <think> tags and the answer in <answer> tags.',
];

/** The question in the file's words or in others, now and then after a system message. */
export function asked(random: Random, question: WordQuestion): Message[] {
  const content = random.bool(VERBATIM) ? question.question : question.paraphrase;
  return [
    ...(random.bool(0.04) ? [{ role: 'system', content: random.pick(SYSTEM) } as const] : []),
    user(content),
  ];
}

function conversation(random: Random): Conversation {
  const [form] = FORMS[random.weighted(FORMS.map(([, share]) => share))]!;
  if (form === 'reading') return { role: 'solver', ...drawReading(random) };
  const family = FAMILIES[random.weighted(FAMILIES.map((name) => SHARES[name]))]!;
  const question = drawQuestion(random, family);
  const { steps, answer } = question;
  const reply = writeAnswer(steps, answer, random.bool(WORKED));
  switch (form) {
    case 'answer':
      return { role: 'solver', messages: asked(random, question), reply };
    case 'drill': {
      // Steps alone: they have more results per token than questions do.
      const lines: string[] = [];
      while (lines.length < 6) lines.push(...drawQuestion(random, family).steps);
      return {
        role: 'solver',
        messages: [user('Calculate some steps.')],
        reply: lines.slice(0, 8).join('\n'),
      };
    }
    case 'verdict': {
      const shown = random.bool() ? question : spoiled(random, question);
      const worked = random.bool(WORKED);
      const messages = verifierMessages(
        asked(random, question),
        writeAnswer(shown.steps, shown.answer, worked),
      );
      return { role: 'judge', messages, reply: verdict(question, shown, worked && steps.length > 0) };
    }
    case 'second try': {
      const shown = spoiled(random, question);
      const feedback = random.pick([
        undefined,
        undefined,
        'That is wrong. Try again.',
        ...(steps.length ? [`That is wrong. Hint: ${random.pick(steps)}`] : []),
      ]);
      const attempt = writeAnswer(shown.steps, shown.answer, random.bool(WORKED));
      return { role: 'solver', messages: retryMessages(asked(random, question), attempt, feedback), reply };
    }
    case 'hint': {
      // The first attempts at a countdown fail.
      const hint = family === 'countdown' ? steps.at(-1) : steps[0];
      const [message, ...rest] = asked(random, question).reverse();
      const hinted = hint ? `${message!.content.trimEnd()}\nHint: ${hint}` : message!.content;
      return { role: 'solver', messages: [...rest, user(hinted)], reply };
    }
    case 'proposal': {
      const like = drawQuestion(random, family);
      return {
        role: 'proposer',
        messages: proposerMessages([like.question]),
        reply: question.question.trim(),
      };
    }
  }
}

const template = openTemplate(WORDS_TEMPLATE);

/** One conversation; the loss is on its last reply. */
export function demonstrateWords(random: Random): Demonstration {
  const { role, messages, reply } = conversation(random);
  return { role, prompt: template({ messages, generationPrompt: true }), completion: `${reply}${END}` };
}
