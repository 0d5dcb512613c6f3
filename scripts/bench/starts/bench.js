import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { say } from '../../ready/run.js'
import { startSluice } from '../sluice.js'
import { machine } from '../table.js'
import { startPeer } from '../works/peer.js'

const CONTENDERS = [
  { name: 'Sluice', start: async (folder) => (await startSluice({ folder })).server },
  {
    name: '`express.static`',
    start: (folder) => startPeer({ script: 'peers/express-static.js', args: [folder], folder }),
  },
]
const STARTS = { full: 10, short: 3, quick: 1 }

/** Measures the starts of programs on an empty data folder, from the command to the first response. */
export async function benchStarts({ size, temporary }) {
  const times = new Map(CONTENDERS.map(({ name }) => [name, []]))
  for (let round = 1; round <= STARTS[size]; round += 1)
    for (const { name, start } of CONTENDERS) {
      const began = performance.now()
      const server = await start(mkdtempSync(join(temporary, 'start-')))
      await fetch(`${server.url}/readyz`).then((response) => response.arrayBuffer())
      const figures = { seconds: (performance.now() - began) / 1000, cpu: await server.cpuSeconds() }
      times.get(name).push(figures)
      say(`${name} ${round}: ${figures.seconds.toFixed(2)} s, ${figures.cpu.toFixed(2)} s of CPU`)
      await server.stop()
    }
  const rows = [...times].map(
    ([name, all]) => `| ${name} | ${median(all, 'seconds')} s | ${median(all, 'cpu')} s |`,
  )
  return [
    machine({ runs: STARTS[size] }),
    '',
    '| Program | From the command to the first response | CPU |',
    '| --- | --- | --- |',
    ...rows,
  ].join('\n')
}

function median(all, of) {
  const sorted = all.map((one) => one[of]).sort((a, b) => a - b)
  return sorted[Math.floor(sorted.length / 2)].toFixed(2)
}
