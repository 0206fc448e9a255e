/** `node comment.mjs LINES`: writes the curve of an order's rounds, as `rollmesh trigger --wait --json` printed them, as a comment of the pull request or the commit, and into the summary of the job. */
import { appendFileSync, readFileSync } from 'node:fs';

const lines = readFileSync(process.argv[2], 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{'))
  .map((line) => JSON.parse(line));
const start = lines.find(({ kind }) => kind === 'start');
/** So many rounds, and so much of what was said, are shown, the last ones: GitHub takes no comment of more than 65,536 characters. */
const MOST = 100;
const ended = lines.filter(({ kind }) => kind === 'round');
const rounds = ended.slice(-MOST);
const notices = lines.filter(({ kind }) => kind === 'notice').slice(-MOST);

/** What a mesh says is shown as text, whatever it is. */
const plain = (text) =>
  String(text)
    .slice(0, 300)
    .replaceAll(/[^\w .,:;/#+-]/g, ' ');
const number = (value) => (typeof value === 'number' ? value.toFixed(3) : '–');
const monitors = rounds.map(({ report }) => report.monitors ?? {});

/** A line of the chart for a figure that every round has. */
const curve = (figure) => {
  const values = monitors.map((of) => of[figure]);
  return values.every((value) => typeof value === 'number')
    ? [`  line [${values.map(number).join(', ')}]`]
    : [];
};
const drawn = [...curve('reward'), ...curve('gold')];

const text = [
  `### ${plain(start?.settings.recipe ?? 'rollmesh')}: ${ended.length} ${ended.length === 1 ? 'round' : 'rounds'}${ended.length > MOST ? `, of which the last ${MOST} are shown` : ''}`,
  '',
  ...(rounds.length > 1 && drawn.length
    ? [
        ...['```mermaid', 'xychart-beta', `  title "reward${drawn.length > 1 ? ' and gold' : ''} by round"`],
        `  x-axis [${rounds.map(({ round }) => Number(round)).join(', ')}]`,
        ...drawn,
        '```',
        '',
      ]
    : []),
  '| round | version | reward | gold | KL to version 0 |',
  '|---|---|---|---|---|',
  ...rounds.map(({ round, to, report: { training } }, i) => {
    const kl = Object.values(training?.roles ?? {}).map(({ klToStart }) => klToStart);
    const largest = kl.filter((one) => typeof one === 'number').sort((a, b) => b - a)[0];
    return `| ${Number(round)} | ${Number(to)} | ${number(monitors[i].reward)} | ${number(monitors[i].gold)} | ${number(largest)} |`;
  }),
  '',
  ...notices.map(({ text: said }) => `- ${plain(said)}`),
  ...(rounds.length ? [] : ['No round was trained.']),
  ...(start ? ['', `[The run](${new URL(start.page).href})`] : []),
].join('\n');

const {
  GITHUB_API_URL,
  GITHUB_REPOSITORY,
  GITHUB_SHA,
  GITHUB_TOKEN,
  GITHUB_EVENT_PATH,
  GITHUB_STEP_SUMMARY,
} = process.env;
if (GITHUB_STEP_SUMMARY) appendFileSync(GITHUB_STEP_SUMMARY, `${text}\n`);
const event = GITHUB_EVENT_PATH ? JSON.parse(readFileSync(GITHUB_EVENT_PATH, 'utf8')) : {};
const pull = event.pull_request?.number;
const place = pull ? `issues/${Number(pull)}` : `commits/${GITHUB_SHA}`;
const answer = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/${place}/comments`, {
  method: 'POST',
  headers: {
    authorization: `Bearer ${GITHUB_TOKEN}`,
    accept: 'application/vnd.github+json',
    'content-type': 'application/json',
  },
  body: JSON.stringify({ body: text }),
});
if (!answer.ok) {
  console.error(`The comment was refused: ${answer.status} ${(await answer.text()).slice(0, 300)}`);
  process.exitCode = 1;
}
