import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type DefaultTheme, defineConfig } from 'vitepress'

/** The project's folder: pages link to each other as they do on GitHub, so all of them are in one site. */
const ROOT = join(import.meta.dirname, '..', '..')
/** Files that are not pages, but that the README links to. */
const LINKED_FILES = ['LICENSE', '.env.example']
const FOLDERS = {
  tutorial: 'Tutorials',
  'how-to': 'How-to guides',
  reference: 'Reference',
  explanation: 'Explanation',
}
const TOP_PAGES = ['ARCHITECTURE.md', 'CONTRIBUTING.md', 'SECURITY.md', 'CHANGELOG.md']

/** A page of the sidebar, with its first heading as the title. */
function item(page: string): DefaultTheme.SidebarItem & { text: string } {
  const heading = /^# +(.+)$/m.exec(readFileSync(join(ROOT, page), 'utf8'))?.[1]
  if (heading === undefined) throw new Error(`${page} has no first heading`)
  return { text: heading.replaceAll('`', ''), link: `/${page.replace(/\.md$/, '')}` }
}

function itemsOf(folder: string): DefaultTheme.SidebarItem[] {
  const pages = readdirSync(join(ROOT, 'docs', folder)).filter((file) => file.endsWith('.md'))
  const items = pages.map((page) => item(`docs/${folder}/${page}`))
  return items.sort((a, b) => a.text.localeCompare(b.text, 'en'))
}

const sidebar = [
  { text: 'Overview', link: '/' },
  ...Object.entries(FOLDERS).map(([folder, text]) => ({ text, collapsed: false, items: itemsOf(folder) })),
  { text: 'Project', collapsed: false, items: TOP_PAGES.map(item) },
]

export default defineConfig({
  title: 'Sluice',
  description: 'Self-hosted file storage, transformation and delivery',
  srcDir: ROOT,
  // VitePress reads all other Markdown files of the project, if they are not excluded.
  srcExclude: ['!(docs)/**/*', 'docs/.vitepress/**'],
  rewrites: { 'README.md': 'index.md' },
  cleanUrls: false,
  lastUpdated: false,
  // Links to the service that the reader has started.
  ignoreDeadLinks: [/^http:\/\/localhost/],
  markdown: {
    config(md) {
      md.core.ruler.push('linked-files', ({ tokens }) => {
        const links = tokens.flatMap(({ children }) => children ?? [])
        for (const link of links) {
          // VitePress takes a link without a target for a page, and appends .html.
          if (LINKED_FILES.includes(link.attrGet('href') ?? '')) link.attrSet('target', '_self')
        }
      })
    },
  },
  head: [['meta', { name: 'referrer', content: 'no-referrer' }]],
  vite: { build: { chunkSizeWarningLimit: 1000 } },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/docs/tutorial/getting-started' },
      { text: 'HTTP API', link: '/docs/reference/http-api' },
      { text: 'Configuration', link: '/docs/reference/configuration' },
    ],
    sidebar,
    outline: [2, 3],
    // The index is a part of the site: a search sends no request to another server.
    search: { provider: 'local' },
  },
  buildEnd({ outDir }) {
    for (const file of LINKED_FILES) copyFileSync(join(ROOT, file), join(outDir, file))
  },
})
