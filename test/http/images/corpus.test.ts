import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { isOffice, knownFormat } from '../../../src/core/media/formats.ts'
import { demuxerOf } from '../../../src/engines/ffmpeg/input.ts'
import { OTHER_THAN_FFPROBE, OTHER_THAN_SHARP } from '../../corpus/differences.ts'
import { stoppedAtTheEnd } from '../../support/backends.ts'
import { type CorpusOutcome, corpusOutcomes, ofEach, plainSharp } from '../../support/media/corpus.ts'
import { probed } from '../../support/media/probe.ts'
import { PROJECT, startService } from '../../support/service.ts'
import { sized } from '../../support/sized.ts'

const CORPUS = join(PROJECT, 'test', 'corpus')
const FILES = join(CORPUS, 'files')

describe('files of other programs in test/corpus', function () {
  this.timeout(300_000)
  const start = stoppedAtTheEnd(startService)
  let expected: Record<string, CorpusOutcome>
  let outcomes: Record<string, CorpusOutcome>
  before(async () => {
    expected = JSON.parse(await readFile(join(CORPUS, 'expected.json'), 'utf8'))
    const service = await start({ env: { MEDIA_CONCURRENCY: '2' } })
    outcomes = await corpusOutcomes(service, FILES, sized(fewOfEach(expected), undefined))
  })

  it('have the format and the result of ?w=64 in test/corpus/expected.json', async () => {
    expect(Object.keys(outcomes).length).to.be.at.least(sized(25, 300))
    expect(new Set(Object.values(outcomes).map(({ format }) => format)).size).to.be.at.least(sized(25, 60))
    expect(Object.keys(expected).length).to.be.at.least(300)
    expect(outcomes).to.deep.equal(sized(only(expected, outcomes), expected))
  })

  it('are rendered in the size that sharp alone gives, or refused as sharp refuses them', async () => {
    const plain = await ofEach(Object.keys(outcomes), async (name) =>
      plainSharp(await readFile(join(FILES, name))),
    )
    const differing = Object.entries(outcomes).filter(([name, { group, transformed }]) => {
      const size = /^200 image\/\S+ (\d+x\d+)$/.exec(transformed)?.[1]
      return group === 'image' ? size !== plain.get(name) : plain.get(name) !== undefined
    })
    expect(differing.map(([name]) => name)).to.have.members(Object.keys(only(OTHER_THAN_SHARP, outcomes)))
  })

  it('are probed as ffprobe does, and play', async () => {
    const isProbed = ([name, { group }]: [string, CorpusOutcome], i: number) =>
      i % sized(12, 1) === 0 || group === 'video' || group === 'audio' || name in OTHER_THAN_FFPROBE
    const checked = Object.entries(outcomes).filter(isProbed)
    const names = checked.map(([name]) => name)
    const found = await ofEach(names, (name) => probed(join(FILES, name)))
    const differing = checked.filter(([name, { group, format, transformed }]) => {
      const known = found.get(name)
      if (group !== 'video' && group !== 'audio') return known !== undefined
      const demuxer = demuxerOf(knownFormat(format)) ?? ''
      const isRead = group === 'audio' || transformed === '200 video/mp4'
      return known?.group !== group || !known.demuxers.includes(demuxer) || !isRead
    })
    expect(differing.map(([name]) => name)).to.have.members(Object.keys(only(OTHER_THAN_FFPROBE, outcomes)))
  })
})

/**
 * The first file of every second image format, and of every sixth other format. Videos, audio files and Office documents start
 * several processes each: of every thirtieth format, one file.
 */
function fewOfEach(expected: Readonly<Record<string, CorpusOutcome>>): string[] {
  const seen = new Set<string>()
  return Object.entries(expected)
    .filter(([, { group, format }]) => {
      if (seen.has(format)) return false
      seen.add(format)
      const startsProcesses = group === 'video' || group === 'audio' || isOffice(knownFormat(format))
      return seen.size % (group === 'image' ? 2 : startsProcesses ? 30 : 6) === 0
    })
    .map(([name]) => name)
}

/** The entries of `all` with the names of `others`. */
function only<T>(all: Readonly<Record<string, T>>, others: object): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => name in others))
}
