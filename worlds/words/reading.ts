/** Short exercises that teach to read English rather than a few templates: number words, sorting, counting, stories with one calculation. */
import type { Random } from '../../core/random.ts';
import type { Message } from '../../core/renderer/message.ts';

const SMALL = [
  'zero',
  'one',
  'two',
  'three',
  'four',
  'five',
  'six',
  'seven',
  'eight',
  'nine',
  'ten',
  'eleven',
  'twelve',
  'thirteen',
  'fourteen',
  'fifteen',
  'sixteen',
  'seventeen',
  'eighteen',
  'nineteen',
];
const TENS = ['', '', 'twenty', 'thirty', 'forty', 'fifty', 'sixty', 'seventy', 'eighty', 'ninety'];

/** A number below 100 in words. */
const inWords = (number: number): string =>
  SMALL[number] ?? `${TENS[Math.floor(number / 10)]}${number % 10 === 0 ? '' : `-${SMALL[number % 10]}`}`;

const NAMES = [
  'Ann',
  'Ben',
  'Clara',
  'David',
  'Emma',
  'Frank',
  'Grace',
  'Henry',
  'Ida',
  'Jack',
  'Kate',
  'Leo',
  'Maria',
  'Nils',
  'Olga',
  'Peter',
  'Rosa',
  'Simon',
  'Tina',
  'Victor',
];
const THINGS = [
  'apples',
  'books',
  'coins',
  'cards',
  'stamps',
  'pencils',
  'flowers',
  'marbles',
  'shells',
  'stones',
  'eggs',
  'letters',
  'oranges',
  'tickets',
  'buttons',
  'cookies',
  'bottles',
  'boxes',
  'keys',
  'plates',
  'bananas',
  'candles',
  'carrots',
  'feathers',
  'lemons',
  'notebooks',
  'peaches',
  'ribbons',
  'spoons',
  'towels',
];
const DAYS = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday'];
const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const WORDS = [
  ...THINGS,
  'house',
  'river',
  'green',
  'window',
  'garden',
  'silver',
  'summer',
  'mountain',
  'paper',
  'music',
  'orange',
  'yellow',
  'winter',
  'forest',
  'bridge',
  'table',
  'chair',
  'bread',
  'water',
  'night',
  'morning',
  'street',
  'school',
  'doctor',
  'teacher',
  'sister',
  'brother',
  'market',
  'ticket',
  'train',
  'station',
  'island',
  'animal',
  'horse',
  'spring',
  'autumn',
  'kitchen',
  'picture',
  'village',
  'weather',
];

interface Reading {
  readonly messages: readonly Message[];
  readonly reply: string;
}

const two = (random: Random): [number, number] => {
  const [a, b] = [random.int(50) + 2, random.int(40) + 1];
  return [Math.max(a, b), Math.min(a, b)];
};

/** A question in words and its answer, with a line of work where there is one. */
function exercise(random: Random): { question: string; answer: string; step?: string } {
  const number = random.int(100);
  const numbers = Array.from({ length: 3 + random.int(3) }, () => random.int(100));
  const name = random.pick(NAMES);
  const other = random.pick(NAMES.filter((each) => each !== name));
  const thing = random.pick(THINGS);
  const [a, b] = two(random);
  const spoken = (value: number) => (random.bool(0.3) ? inWords(value) : String(value));
  return random.pick([
    () => ({ question: `Write the number ${number} in words.`, answer: inWords(number) }),
    () => ({ question: `Write ${inWords(number)} in digits.`, answer: String(number) }),
    () => ({
      question: `Sort these numbers from the smallest to the largest: ${numbers.join(', ')}.`,
      answer: [...numbers].sort((x, y) => x - y).join(', '),
    }),
    () => ({
      question: `Sort these numbers from the largest to the smallest: ${numbers.join(', ')}.`,
      answer: [...numbers].sort((x, y) => y - x).join(', '),
    }),
    () => ({
      question: `Which of these numbers is the ${number % 2 ? 'largest' : 'smallest'}: ${numbers.join(', ')}?`,
      answer: String(number % 2 ? Math.max(...numbers) : Math.min(...numbers)),
    }),
    () => {
      const words = random.shuffle(WORDS).slice(0, 3);
      return {
        question: `Put these words in alphabetical order: ${words.join(', ')}.`,
        answer: [...words].sort().join(', '),
      };
    },
    () => {
      const list = numbers.map((each) => (random.bool(0.3) ? random.pick(WORDS) : String(each))).join(', ');
      return { question: `Repeat this: ${list}.`, answer: list };
    },
    () => {
      const names = random.bool() ? DAYS : MONTHS;
      const at = random.int(names.length - 1);
      return random.bool()
        ? { question: `What comes after ${names[at]}?`, answer: names[at + 1]! }
        : { question: `What comes before ${names[at + 1]}?`, answer: names[at]! };
    },
    () => ({
      question: `Is ${number} an even number or an odd number?`,
      answer: number % 2 ? 'odd' : 'even',
    }),
    () => ({
      question: `${name} has ${spoken(a)} ${thing} and gets ${spoken(b)} more from ${other}. How many ${thing} does ${name} have now?`,
      answer: String(a + b),
      step: `${a}+${b}=${a + b}`,
    }),
    () => ({
      question: `${name} had ${spoken(a)} ${thing} and gave ${spoken(b)} of them to ${other}. How many ${thing} are left?`,
      answer: String(a - b),
      step: `${a}-${b}=${a - b}`,
    }),
    () => ({
      question: `There are ${spoken(a)} ${thing} in each of ${spoken((b % 9) + 2)} bags. How many ${thing} are there together?`,
      answer: String(a * ((b % 9) + 2)),
      step: `${a}*${(b % 9) + 2}=${a * ((b % 9) + 2)}`,
    }),
    () => ({
      question: `${name} is ${spoken(a)} years old and ${other} is ${spoken(b)}. How many years older is ${name}?`,
      answer: String(a - b),
      step: `${a}-${b}=${a - b}`,
    }),
  ])();
}

export function drawReading(random: Random): Reading {
  const { question, answer, step } = exercise(random);
  const steps = step && random.bool(0.6) ? `<think>${step}</think>` : '';
  return { messages: [{ role: 'user', content: question }], reply: `${steps}<answer>${answer}</answer>` };
}
