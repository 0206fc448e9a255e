/** The site's search: Pagefind's index lies beside this page, so that no server is asked. */
const form = document.querySelector('form.search');
const list = document.getElementById('found');
const said = document.getElementById('said');
const MOST = 20;

/** Excerpts come as HTML in which the words are marked; anything else in them stays text. */
function excerpt(html) {
  const { body } = new DOMParser().parseFromString(`<body><p>${html}</p>`, 'text/html');
  return [...body.firstChild.childNodes].map((node) => {
    if (node.nodeName !== 'MARK') return node.textContent;
    const mark = document.createElement('mark');
    mark.textContent = node.textContent;
    return mark;
  });
}

function entry({ url, meta, excerpt: html, sub_results: parts }) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = parts[0]?.url ?? url;
  link.textContent = meta.title ?? url;
  const text = document.createElement('p');
  text.append(...excerpt(html));
  item.append(link, text);
  return item;
}

async function search(words) {
  list.replaceChildren();
  if (!words) return;
  said.textContent = 'Searching.';
  try {
    const pagefind = await import('./pagefind/pagefind.js');
    const { results } = await pagefind.search(words);
    const found = await Promise.all(results.slice(0, MOST).map((result) => result.data()));
    list.replaceChildren(...found.map(entry));
    said.textContent = results.length
      ? `${results.length} ${results.length === 1 ? 'page' : 'pages'}${results.length > MOST ? `, the first ${MOST} of them below` : ''}.`
      : `No page has ${JSON.stringify(words)}.`;
  } catch (error) {
    said.textContent = `The index cannot be read: ${error instanceof Error ? error.message : error}. A page that is opened from disk has no search: serve the folder.`;
  }
}

const asked = new URLSearchParams(location.search).get('q') ?? '';
form.elements.q.value = asked;
void search(asked.trim());
