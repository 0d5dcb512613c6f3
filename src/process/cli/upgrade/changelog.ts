/** A section of the changelog. */
export interface Release {
  /** `1.0.0`; undefined for changes that are not released yet. */
  version: string | undefined
  /** The text before the first title: what every operator must know. */
  lead: string[]
  groups: Group[]
}

/** Changes of one kind: `Added`, `Changed`, `Fixed`, `Security`, … */
export interface Group {
  title: string
  /** Each in Markdown, on one line, apart from its list items. */
  changes: string[]
}

/** The sections of a changelog, the latest first. */
export function releasesOf(changelog: string): Release[] {
  const [, ...sections] = changelog.split(/^## /m)
  return sections.map((section) => {
    const [head = '', ...blocks] = section.split(/^### /m)
    const [title = '', ...lead] = head.split('\n')
    const [, version] = /^\[?v?(\d+\.\d+\.\d+[\w.+-]*)/.exec(title) ?? []
    const groups = blocks.map((block) => {
      const [name = '', ...lines] = block.split('\n')
      return { title: name.trim(), changes: itemsOf(lines) }
    })
    return { version, lead: paragraphsOf(lead), groups }
  })
}

/** The version of a build: that of the package, and a mark when the changelog has changes that are not released. */
export function buildOf(version: string, releases: readonly Release[]): string {
  const isAhead = releases.some(
    ({ version: released, groups }) => released === undefined && groups.length > 0,
  )
  return isAhead ? `${version}+unreleased` : version
}

/** The sections of the versions after this one. @param build as {@link buildOf} returns it */
export function releasesAfter(build: string, releases: readonly Release[]): Release[] {
  const isUnreleased = build.endsWith('+unreleased')
  return releases.filter(({ version }) =>
    version === undefined ? !isUnreleased : compareVersions(version, build) > 0,
  )
}

/** Whether a change names a step of the upgrade guide: the operator must do something. */
export function needsStep(change: string): boolean {
  return /\]\([^)]*\bhow-to\/upgrade\.md/.test(change)
}

/** Major, minor and patch, then 0 for a prerelease; and the text of the prerelease, such as `rc.1`. */
interface Parsed {
  numbers: number[]
  pre: string
}

// rc.10 is later than rc.9.
const PRERELEASES = new Intl.Collator('en', { numeric: true })

/** Negative when `a` is earlier than `b`. Build metadata does not count, and a prerelease is earlier than its release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => {
    const [, core = '', pre] = /^v?([\d.]+)(?:-([\w.-]+))?/.exec(text) ?? []
    const [major = 0, minor = 0, patch = 0] = core.split('.').map(Number)
    return { numbers: [major, minor, patch, pre === undefined ? 1 : 0], pre: pre ?? '' }
  }) as [Parsed, Parsed]
  const at = left.numbers.findIndex((number, i) => number !== right.numbers[i])
  if (at < 0) return PRERELEASES.compare(left.pre, right.pre)
  return (left.numbers[at] ?? 0) - (right.numbers[at] ?? 0)
}

function paragraphsOf(lines: readonly string[]): string[] {
  return lines
    .join('\n')
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim().replace(/\s*\n\s*/g, ' '))
    .filter((paragraph) => paragraph !== '')
}

/** The items of a list. Lines of an item are joined, except its own list items. */
function itemsOf(lines: readonly string[]): string[] {
  const items: string[] = []
  for (const line of lines) {
    const text = line.trim()
    if (text === '') continue
    if (line.startsWith('- ')) items.push(text.slice(2))
    else items.push(`${items.pop() ?? ''}${text.startsWith('- ') ? '\n' : ' '}${text}`)
  }
  return items
}
