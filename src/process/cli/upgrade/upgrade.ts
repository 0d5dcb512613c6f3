import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { FORMER_LAYOUTS, INDEX_LAYOUT } from '../../../core/storage/index-layout.ts'
import { commandsUnder } from '../init/readme.ts'
import { type OwnPackage, textOf } from '../own-package.ts'
import { buildOf, compareVersions, needsStep, releasesAfter, releasesOf } from './changelog.ts'

/** What an upgrade means. All changes are Markdown. */
export interface UpgradeReport {
  /** The builds, as `1.0.0`, or `1.0.0+unreleased` for one with changes that no version has yet. */
  from: string
  to: string
  /** Changes that need a step of the operator. */
  steps: string[]
  /** All other changes, by their kind. */
  changes: Array<{ title: string; changes: string[] }>
  /** The layouts of the index in Redis. When they differ, the way back needs a step too. */
  indexLayout: { from: number; to: number }
  /** The commands of the folder's README, one in each line; empty without a folder of `sluice init`. */
  commands: string
}

// The kinds that can surprise are first.
const ORDER = ['Changed', 'Removed', 'Security', 'Fixed', 'Faster', 'Added']

/**
 * What has changed between two versions, by the changelog of this package.
 *
 * @param options.folder a folder of `sluice init`
 * @param options.from the version before the upgrade. Default: the one that the folder names
 * @throws Error when the version is unknown, or later than this package
 */
export function upgradeReport(
  folder: string,
  { own, from: given }: { own: OwnPackage; from?: string | undefined },
): UpgradeReport {
  const releases = releasesOf(textOf(own, 'CHANGELOG.md'))
  const to = buildOf(own.version, releases)
  const from = given ?? buildIn(folder)
  if (from === undefined)
    throw new Error(
      `${folder} has no package.json of sluice init, which names the version. Set it with --from, such as --from 1.0.0`,
    )
  if (compareVersions(from, to) > 0)
    throw new Error(
      `This is Sluice ${own.version}, which is earlier than ${from}. "Go back" in ${guideOf(own)} has the steps`,
    )
  const after = releasesAfter(from, releases)
  const groups = after.flatMap((release) => release.groups)
  const leads = after.flatMap(({ lead }) => lead)
  const titles = [...new Set(groups.map(({ title }) => title))].sort((a, b) => place(a) - place(b))
  const of = (title: string) =>
    groups.filter((group) => group.title === title).flatMap(({ changes }) => changes)
  return {
    from,
    to,
    steps: [...leads, ...titles.flatMap(of)].filter(needsStep),
    changes: [{ title: 'Notes', changes: leads }, ...titles.map((title) => ({ title, changes: of(title) }))]
      .map(({ title, changes }) => ({ title, changes: changes.filter((change) => !needsStep(change)) }))
      .filter(({ changes }) => changes.length > 0),
    indexLayout: { from: layoutOf(from), to: INDEX_LAYOUT },
    commands: commandsIn(folder, own.version),
  }
}

/** The guide of this package. */
export function guideOf({ root }: OwnPackage): string {
  return join(root, 'docs/how-to/upgrade.md')
}

/** The layout of the index in Redis that a build has. */
export function layoutOf(build: string): number {
  if (build.endsWith('+unreleased')) return INDEX_LAYOUT
  return FORMER_LAYOUTS.find(({ last }) => compareVersions(build, last) <= 0)?.layout ?? INDEX_LAYOUT
}

/** The build that a folder of `sluice init` names: the version in its package.json, which an upgrade changes. */
function buildIn(folder: string): string | undefined {
  const file = join(folder, 'package.json')
  if (!existsSync(file)) return undefined
  const { dependencies, sluice } = JSON.parse(readFileSync(file, 'utf8'))
  const [, version] = /(\d+\.\d+\.\d+(?:-[\w.]+?)?)(?:\.tgz)?$/.exec(String(dependencies?.sluice)) ?? []
  const build = String(sluice?.build)
  return build.split('+')[0] === version ? build : version
}

function commandsIn(folder: string, version: string): string {
  const file = join(folder, 'README.md')
  if (!existsSync(file)) return ''
  return commandsUnder('Upgrade', readFileSync(file, 'utf8'))
    .flatMap((block) => block.split('\n'))
    .filter((line) => !/^npx .*upgrade$/.test(line))
    .join('\n')
    .replaceAll('<version>', version)
}

function place(title: string): number {
  const at = ORDER.indexOf(title)
  return at < 0 ? ORDER.length : at
}
