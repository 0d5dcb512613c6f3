import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { corpusOutcomes, filesOf, ofEach, plainSharp } from '../test/support/media/corpus.ts'
import { startService } from '../test/support/service.ts'

const HELP = `npm run corpus -- <folder> [<file to write>]

Uploads each file of a folder to a temporary service, requests ?w=64 of it, and prints where the results of Sluice,
sharp and file(1) differ. With a second name, it writes the results there as JSON.`

const [folder, target] = process.argv.slice(2)
if (!folder) {
  console.error(HELP)
  process.exit(1)
}
const dataDir = await mkdtemp(join(tmpdir(), 'corpus-'))
const service = await startService({ dataDir, env: { MEDIA_CONCURRENCY: '2' } })
try {
  const outcomes = await corpusOutcomes(service, folder)
  const plain = await ofEach(await filesOf(folder), async (name) =>
    plainSharp(await readFile(join(folder, name))),
  )
  for (const [name, { group, format, transformed }] of Object.entries(outcomes)) {
    const { stdout } = spawnSync('file', ['--brief', '--mime-type', join(folder, name)], { encoding: 'utf8' })
    const isRead = transformed.startsWith('200 image')
    if (isRead !== (plain.get(name) !== undefined) || !stdout?.startsWith(`${group}/`))
      console.log(
        [
          name,
          group,
          format,
          transformed,
          `sharp: ${plain.get(name) ?? 'no'}`,
          `file: ${stdout?.trim()}`,
        ].join(' | '),
      )
  }
  if (target) writeFileSync(target, `${JSON.stringify(outcomes, null, 2)}\n`)
} finally {
  await service.stop()
  await rm(dataDir, { recursive: true, force: true })
}
