import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { expect } from 'chai'

/** The pages of the project: those at its top, in docs, and next to the corpus. */
function pages(): string[] {
  const inDocs = readdirSync('docs', { recursive: true, encoding: 'utf8' })
    .filter((file) => !file.startsWith('node_modules'))
    .map((file) => join('docs', file))
  return [...readdirSync('.'), ...inDocs, join('test', 'corpus', 'README.md')].filter((file) =>
    file.endsWith('.md'),
  )
}

/** The text of a page without its blocks of code, in which no link is one. */
function prose(file: string): string {
  return readFileSync(file, 'utf8').replace(/^```[\s\S]*?^```/gm, '')
}

/** The anchors of a page, as GitHub makes them of its headings: a second one of the same text ends in -1. */
function anchors(text: string): Set<string> {
  const found = new Map<string, number>()
  for (const [, heading = ''] of text.matchAll(/^#{1,6} +(.*)$/gm)) {
    const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    const slug = plain
      .trim()
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\- _]/gu, '')
      .replaceAll(' ', '-')
    const times = found.get(slug) ?? 0
    found.set(slug, times + 1)
    if (times > 0) found.set(`${slug}-${times}`, 1)
  }
  return new Set(found.keys())
}

/** What is wrong with a relative link of a page; undefined when it leads to a file, and to a heading in it. */
function broken(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : normalize(join(dirname(page), decodeURIComponent(path)))
  if (!existsSync(target)) return `${page}: ${link}: there is no such file`
  if (anchor === undefined || statSync(target).isDirectory()) return
  if (!anchors(prose(target)).has(anchor)) return `${page}: ${link}: there is no such heading`
}

/** The relative links of a text, those of pictures too. */
function links(text: string): string[] {
  const all = [...text.matchAll(/\]\(<?([^)\s>]+)>?(?: "[^"]*")?\)/g)].map(([, link = '']) => link)
  return all.filter((link) => !/^[a-z][a-z+.-]*:/i.test(link))
}

describe('the documentation', () => {
  const all = pages()

  it('has relative links that lead to files and headings', () => {
    const given = all.flatMap((page) => links(prose(page)).map((link) => ({ page, link })))
    expect(given.length).to.be.above(200)
    const wrong = given.map(({ page, link }) => broken(page, link))
    expect(wrong.filter((reason) => reason !== undefined)).to.deep.equal([])
  })

  it('names files of the code, in explanations and for contributors, that exist', () => {
    const folders = [
      'src',
      'test',
      'plugins',
      'config',
      'client',
      'dashboard',
      'scripts',
      'deploy',
      'examples',
    ]
    const files = folders.flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => !file.includes('node_modules'))
        .map((file) => `/${folder}/${file}\n`),
    )
    const list = files.join('')
    const forContributors = all.filter((page) =>
      /^(ARCHITECTURE|CONTRIBUTING|docs\/explanation\/.*)\.md$/.test(page),
    )
    const named = forContributors.flatMap((page) =>
      [...prose(page).matchAll(/`([\w.-]+\/[\w./-]+\.(?:m?[jt]sx?|json|yaml|sh))`/g)].map(
        ([, path = '']) => ({ page, path }),
      ),
    )
    expect(named.length).to.be.above(200)
    expect(named.filter(({ path }) => !list.includes(`/${path}\n`))).to.deep.equal([])
  })

  it('has links in the manual that lead to pages of its site (npm run docs)', () => {
    const manual = all.filter((page) => page.startsWith('docs/'))
    const targets = manual.flatMap((page) =>
      links(prose(page)).map((link) => normalize(join(dirname(page), link.replace(/#.*/, '')))),
    )
    const others = targets.filter((path) => /\.md$/.test(path) && !all.includes(path))
    expect(others).to.deep.equal([])
  })

  it('has a link to each page in the list of the manual, or in that of explanations', () => {
    const lists = [join('docs', 'README.md'), join('docs', 'explanation', 'README.md')]
    const linked = new Set(
      lists.flatMap((list) =>
        links(prose(list)).map((link) => normalize(join(dirname(list), link.replace(/#.*/, '')))),
      ),
    )
    const manual = all.filter((page) => page.startsWith('docs/') && page !== join('docs', 'README.md'))
    expect(manual.length).to.be.above(30)
    expect(manual.filter((page) => !linked.has(page))).to.deep.equal([])
  })
})
