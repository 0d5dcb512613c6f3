import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { command, root, say } from '../ready/run.js'
import { ROWS } from './panels.js'

const HELP = `npm run grafana

Writes deploy/grafana/dashboard.json from scripts/grafana/panels.js.`

export const DASHBOARD = 'deploy/grafana/dashboard.json'

// Of 24 columns.
const STAT_HEIGHT = 4
const HEIGHT = 8
const MOST_IN_A_LINE = 3

/** The dashboard as JSON that Grafana 10 and later import as it is. */
export function renderDashboard() {
  let id = 0
  let y = 0
  const panels = ROWS.flatMap(({ title, panels }) => {
    const row = {
      id: ++id,
      type: 'row',
      title,
      collapsed: false,
      gridPos: { x: 0, y, w: 24, h: 1 },
      panels: [],
    }
    y += 1
    const inLine = panels[0].type === 'stat' ? panels.length : Math.min(panels.length, MOST_IN_A_LINE)
    const h = panels[0].type === 'stat' ? STAT_HEIGHT : HEIGHT
    const width = Math.floor(24 / inLine)
    const placed = panels.map((panel, i) => ({
      id: ++id,
      ...rendered(panel),
      gridPos: { x: (i % inLine) * width, y: y + Math.floor(i / inLine) * h, w: width, h },
    }))
    y += Math.ceil(panels.length / inLine) * h
    return [row, ...placed]
  })
  const dashboard = {
    uid: 'sluice',
    title: 'Sluice',
    tags: ['sluice'],
    schemaVersion: 39,
    editable: true,
    refresh: '30s',
    time: { from: 'now-6h', to: 'now' },
    templating: { list: VARIABLES },
    panels,
  }
  return `${JSON.stringify(dashboard, null, 2)}\n`
}

const DATASOURCE = { type: 'prometheus', uid: '$datasource' }

const chosen = (name, label, query) => ({
  ...{ name, label, type: 'query', datasource: DATASOURCE, query: { query, refId: name } },
  ...{ definition: query, refresh: 2, includeAll: true, multi: true, allValue: '.+', sort: 1 },
  current: { text: 'All', value: '$__all' },
})

const VARIABLES = [
  { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus', current: {} },
  chosen('job', 'Job', 'label_values(sluice_build_info, job)'),
  chosen('instance', 'Instance', 'label_values(sluice_build_info{job=~"$job"}, instance)'),
]

function rendered({ title, text, queries, unit = 'short', type = 'timeseries', max, isStacked }) {
  const custom = isStacked ? { stacking: { mode: 'normal' }, fillOpacity: 20 } : { fillOpacity: 5 }
  return {
    ...{ type, title, description: text, datasource: DATASOURCE },
    fieldConfig: {
      defaults: { unit, min: 0, ...(max && { max }), ...(type === 'timeseries' && { custom }) },
      overrides: [],
    },
    options:
      type === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'] }, textMode: 'value_and_name', colorMode: 'none' }
        : { legend: { displayMode: 'list', placement: 'bottom' }, tooltip: { mode: 'multi', sort: 'desc' } },
    targets: queries.map(([query, legendFormat], i) => ({
      refId: String.fromCharCode(65 + i),
      datasource: DATASOURCE,
      expr: query
        .replaceAll('$sluice', 'job=~"$job", instance=~"$instance"')
        .replaceAll('$by', '$__rate_interval'),
      legendFormat,
      ...(type === 'stat' ? { instant: true } : {}),
    })),
  }
}

if (process.argv[1] === import.meta.filename)
  await command(async () => {
    if (process.argv.includes('--help')) return console.log(HELP)
    writeFileSync(join(root, DASHBOARD), renderDashboard())
    say(`${DASHBOARD} is written.`)
  })
