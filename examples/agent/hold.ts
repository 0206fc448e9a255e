/** What every agent does with a mesh: it opens episodes of a run, works, and posts what each is worth, until the run is over. */
import type OpenAI from 'openai';

const { ROLLMESH_AGENT_URL: url, ROLLMESH_AGENT_TOKEN: token } = process.env;

export type Message = OpenAI.Chat.ChatCompletionMessageParam;

/** What an OpenAI client is opened with. */
export interface Access {
  readonly baseURL: string;
  readonly apiKey: string;
}

export interface Task {
  readonly messages: Message[];
  readonly answer: string;
}

/** An episode. It has `baseURL` where the run has one seat, and `seats` by name where it has several. */
type Episode = Access & {
  readonly state: 'open' | 'wait' | 'over';
  readonly seconds: number;
  readonly rewardURL: string;
  readonly task: Task;
  readonly seats: Readonly<Record<string, Access>>;
};

async function post(to: string, key: string | undefined, body: object): Promise<Episode> {
  const headers = { authorization: `Bearer ${key}` };
  const send = () => fetch(to, { method: 'POST', headers, body: JSON.stringify(body) });
  // Connections close. Sent again, an opening under its key is the same one, and a reward that has counted is refused with 409.
  const response = await send().catch(send);
  if (!response.ok && response.status !== 409) throw new Error(await response.text());
  return (await response.json()) as Episode;
}

let ended = 0;

async function hold(work: (episode: Episode) => Promise<object>): Promise<void> {
  for (;;) {
    const episode = await post(`${url}/episodes`, token, { key: crypto.randomUUID() });
    if (episode.state === 'over') return;
    if (episode.state === 'wait') await new Promise((resolve) => setTimeout(resolve, 1000 * episode.seconds));
    else {
      const worth = await work(episode);
      await post(episode.rewardURL, episode.apiKey, worth);
      console.log(`episode ${++ended}: ${JSON.stringify(worth)}`);
    }
  }
}

/** Holds episodes, eight at a time. `work` resolves to what is posted at the end of one, such as `{ reward: 1 }`. */
export async function holdEpisodes(work: (episode: Episode) => Promise<object>): Promise<void> {
  try {
    await Promise.all(Array.from({ length: 8 }, () => hold(work)));
    console.log('The run is over.');
  } catch (error) {
    if (!(error instanceof TypeError) || error.message !== 'fetch failed') throw error;
    console.log(`The mesh at ${url} does not answer any more: this agent ends.`);
  }
}
