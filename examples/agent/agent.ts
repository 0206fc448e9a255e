/** An agent that is trained by working: the policy does sums, a calculator is its tool, and the reward says whether the result is right. */
import OpenAI from 'openai';

const { ROLLMESH_AGENT_URL: url, ROLLMESH_AGENT_TOKEN: token } = process.env;

type Message = OpenAI.Chat.ChatCompletionMessageParam;
interface Episode {
  readonly state: 'open' | 'wait' | 'over';
  readonly seconds: number;
  readonly baseURL: string;
  readonly apiKey: string;
  readonly rewardURL: string;
  readonly task: { readonly messages: Message[]; readonly answer: string };
}

async function post(to: string, key: string | undefined, body: object): Promise<Episode> {
  const headers = { authorization: `Bearer ${key}` };
  const send = () => fetch(to, { method: 'POST', headers, body: JSON.stringify(body) });
  // Connections close. Sent again, an opening under its key is the same one, and a reward that has counted is refused with 409.
  const response = await send().catch(send);
  if (!response.ok && response.status !== 409) throw new Error(await response.text());
  return (await response.json()) as Episode;
}

/** The tool: what is wrong with the first wrong step, such as 3+4=8; null where nothing is. */
function calculator(text: string): string | null {
  for (const [step, a, sign, b, said] of text.matchAll(/(-?\d+)\s*([+-])\s*(\d+)\s*=\s*(-?\d+)/g)) {
    const right = sign === '+' ? Number(a) + Number(b) : Number(a) - Number(b);
    if (right !== Number(said)) return `${step} is wrong.`;
  }
  return null;
}

async function work({ baseURL, apiKey, task }: Episode): Promise<number> {
  const openai = new OpenAI({ baseURL, apiKey });
  const messages = [...task.messages];
  const question = task.messages.at(-1)!.content;
  for (let turn = 1; ; turn++) {
    const { choices } = await openai.chat.completions.create({ model: 'words', messages });
    const { message } = choices[0]!;
    const complaint = turn < 3 ? calculator(message.content ?? '') : null;
    if (complaint === null) return Number(message.content?.match(/-?\d+(?!.*\d)/s)?.[0] === task.answer);
    messages.push(message, { role: 'user', content: `${complaint} ${question}` });
  }
}

async function agent(): Promise<void> {
  for (;;) {
    const episode = await post(`${url}/episodes`, token, { key: crypto.randomUUID() });
    if (episode.state === 'over') return;
    if (episode.state === 'wait') await new Promise((resolve) => setTimeout(resolve, 1000 * episode.seconds));
    else await post(episode.rewardURL, episode.apiKey, { reward: await work(episode) });
  }
}

await Promise.all(Array.from({ length: 8 }, agent));
