/** Images of requests: as chats and as responses have them, and what is refused. */
import { expect, test } from 'vitest';
import { imageText } from '../../../core/images/patches.ts';
import { withImageTexts } from '../../../core/serving/image-parts.ts';
import { chatOrder } from '../../../core/serving/order.ts';
import { responsesOrder } from '../../../core/serving/responses.ts';
import { pngOf } from '../images/png.ts';

const image = { width: 4, height: 3, pixels: new Uint8Array(36).fill(7) };
const url = `data:image/png;base64,${Buffer.from(pngOf(image)).toString('base64')}`;
const shown = imageText(image);
const code = (wanted: string) => expect.objectContaining({ code: wanted });
const chat = (...content: object[]) => ({ model: 'm', messages: [{ role: 'user', content }] });
const messagesIn = ({ prompts }: ReturnType<typeof chatOrder>) =>
  prompts.map((prompt) => (prompt.kind === 'messages' ? prompt.messages : null));

test('the parts of a chat and of a response become texts that show their images', async () => {
  const text = { type: 'text', text: 'Is it ' };
  const asked = [[{ role: 'user', content: `Is it ${shown}` }]];
  const body = chat(text, { type: 'image_url', image_url: { url, detail: 'low' } });
  expect(messagesIn(chatOrder(await withImageTexts(body)))).toEqual(asked);
  const input = [
    {
      role: 'user',
      content: [
        { type: 'input_text', text: 'Is it ' },
        { type: 'input_image', image_url: url },
      ],
    },
  ];
  expect(messagesIn(responsesOrder(await withImageTexts({ model: 'm', input })))).toEqual(asked);
});

test.each([
  null,
  'x',
  [1],
  { model: 'm', input: 'Hi' },
  chat({ type: 'text', text: 'Hi' }),
  { messages: [1] },
])('a body without images stays as it is: %j', async (body) => {
  expect(await withImageTexts(body)).toEqual(body);
});

test.each([
  ['an address', { url: 'https://example.org/a.png' }, 'image.url'],
  ['nothing', undefined, 'image.url'],
  ['a number', 7, 'image.url'],
  ['what is no image', { url: `data:image/png;base64,${btoa('no image')}` }, 'image.kind'],
  ['another type than it says', { url: url.replace('png', 'jpeg') }, 'image.type'],
  ['half of an image', { url: url.slice(0, -40) }, 'image.damaged'],
])('%s is refused by name', async (_, given, wanted) => {
  await expect(withImageTexts(chat({ type: 'image_url', image_url: given }))).rejects.toEqual(code(wanted));
});

test('more images than a request may show are refused', async () => {
  const part = { type: 'image_url', image_url: { url } };
  await withImageTexts(chat(...Array(16).fill(part)));
  await expect(withImageTexts(chat(...Array(17).fill(part)))).rejects.toEqual(code('image.count'));
});

test('an image that nobody decoded is refused', () => {
  expect(() => chatOrder(chat({ type: 'image_url', image_url: { url } }))).toThrow(
    code('serving.unsupported'),
  );
});
