import { ChevronRight, X } from 'lucide-react'
import { useId, useState } from 'react'
import { Badge } from '../../../ui/badge.tsx'
import { Button } from '../../../ui/button.tsx'
import { Input } from '../../../ui/forms/field.tsx'
import { byPlugin, isFound, type Parameter, type PluginParameters } from '../catalog.ts'
import type { Change, Values } from '../state.ts'
import { PLAYGROUND } from '../texts.ts'
import { Control, controlId } from './control.tsx'

/** The parameter that the service has refused, and why. */
export interface Refusal {
  param: string
  text: string
}

interface Props {
  parameters: readonly Parameter[]
  /** Parameters of images, for a result that is one, as of a video. */
  further: readonly Parameter[]
  values: Values
  change: Change
  refusal: Refusal | undefined
}

/** All parameters by plugin, the chosen ones above them, and a search. */
export function ControlPanel({ parameters, further, values, change, refusal }: Props) {
  const [search, setSearch] = useState('')
  const query = search.trim()
  const fits = (parameter: Parameter) => query === '' || isFound(parameter, query)
  const [own, others] = [byPlugin(parameters.filter(fits)), byPlugin(further.filter(fits))]
  const plugins = (list: readonly PluginParameters[]) =>
    list.map((plugin) => (
      <Plugin
        key={`${plugin.plugin} ${query === '' ? '' : 'found'}`}
        plugin={plugin}
        values={values}
        change={change}
        refusal={refusal}
        isOpenAtFirst={query !== '' || isCommon(plugin, list) || plugin.parameters.some(isActive(values))}
      />
    ))
  return (
    // On phones the preview covers the top of the page: what gets the focus is scrolled below it.
    <div className="flex min-h-0 flex-col max-md:[&_*]:scroll-mt-112">
      <div className="border-line border-b p-3">
        <Input
          type="search"
          value={search}
          onChange={({ target }) => setSearch(target.value)}
          aria-label={PLAYGROUND.searchParameters}
          placeholder={PLAYGROUND.searchParameters}
        />
        <Active
          known={new Set([...parameters, ...further].map(({ name }) => name))}
          values={values}
          change={change}
          refusal={refusal}
          onShow={() => setSearch('')}
        />
      </div>
      <div className="min-h-0 divide-y divide-line lg:overflow-y-auto">
        {plugins(own)}
        {others.length > 0 && (
          <h3 className="bg-sunken px-3 py-2 font-medium text-muted text-xs">{PLAYGROUND.frame}</h3>
        )}
        {plugins(others)}
        {own.length + others.length === 0 && (
          <p className="p-6 text-center text-muted">{PLAYGROUND.noParameters}</p>
        )}
      </div>
    </div>
  )
}

/** The chosen parameters. A click leads to the control of one. */
function Active({
  known,
  values,
  change,
  refusal,
  onShow,
}: Pick<Props, 'values' | 'change' | 'refusal'> & { known: ReadonlySet<string>; onShow: () => void }) {
  const entries = Object.entries(values)
  if (entries.length === 0) return null
  const show = (name: string) => {
    onShow()
    // The search has to show the control first.
    setTimeout(() => focusControl(name))
  }
  return (
    <section aria-label={PLAYGROUND.active} className="mt-2.5 flex flex-wrap items-center gap-1.5">
      {entries.map(([name, value]) => (
        <span
          key={name}
          className={`inline-flex h-6 max-w-full pointer-coarse:h-10 items-center rounded-md text-xs ${
            refusal?.param === name ? 'bg-danger-soft text-danger-ink' : 'bg-accent-soft text-accent-ink'
          }`}
        >
          {known.has(name) ? (
            <button
              type="button"
              aria-label={PLAYGROUND.show(`${name}=${value}`)}
              onClick={() => show(name)}
              className="h-full min-w-0 truncate rounded-l-md pl-2 font-mono hover:underline"
            >
              {name}={value}
            </button>
          ) : (
            // A preset, or a parameter that no plugin has.
            <span className="min-w-0 truncate pl-2 font-mono">
              {name}={value}
            </span>
          )}
          <button
            type="button"
            aria-label={PLAYGROUND.clear(name)}
            onClick={() => change({ [name]: undefined })}
            className="flex h-full shrink-0 items-center justify-center rounded-r-md px-1.5 pointer-coarse:w-10 hover:bg-pressed"
          >
            <X aria-hidden="true" className="size-3" />
          </button>
        </span>
      ))}
      {entries.length > 1 && (
        <Button
          look="quiet"
          size="small"
          onClick={() => change(Object.fromEntries(entries.map(([name]) => [name, undefined])))}
        >
          {PLAYGROUND.reset}
        </Button>
      )}
    </section>
  )
}

/** Opens the plugin of a parameter, and moves the focus to its control. */
function focusControl(name: string): void {
  const field = document.getElementById(controlId(name))
  field?.closest('details')?.setAttribute('open', '')
  field?.scrollIntoView({ block: 'center' })
  field?.querySelector<HTMLElement>('input, button[role], [role="slider"], [role="combobox"]')?.focus()
}

function Plugin({
  plugin,
  values,
  change,
  refusal,
  isOpenAtFirst,
}: Pick<Props, 'values' | 'change' | 'refusal'> & { plugin: PluginParameters; isOpenAtFirst: boolean }) {
  const [isOpen, setOpen] = useState(isOpenAtFirst)
  const [wasOpen, setWasOpen] = useState(isOpenAtFirst)
  const headingId = useId()
  const active = plugin.parameters.filter(isActive(values)).length
  const isRefused = plugin.parameters.some(({ name }) => name === refusal?.param)
  return (
    <details
      open={isOpen || isRefused}
      onToggle={({ currentTarget }) => {
        setOpen(currentTarget.open)
        setWasOpen((was) => was || currentTarget.open)
      }}
      className="group"
    >
      <summary className="flex h-10 list-none items-center gap-2 px-3 outline-offset-[-2px] hover:bg-hover">
        <ChevronRight
          aria-hidden="true"
          className="size-4 text-muted transition-transform group-open:rotate-90"
        />
        <span id={headingId} className="font-medium" title={plugin.plugin}>
          {plugin.title}
        </span>
        <span className="flex-1" />
        {active > 0 && <Badge tone="accent">{PLAYGROUND.activeCount(active)}</Badge>}
      </summary>
      {/* Hundreds of controls take time to render. A chip leads to an active one. */}
      {(wasOpen || active > 0 || isRefused) && (
        <fieldset aria-labelledby={headingId} className="flex flex-col gap-4 px-3 pt-1 pb-4">
          {plugin.parameters.map((parameter) => (
            <Control
              key={parameter.name}
              parameter={parameter}
              value={values[parameter.name]}
              onChange={(value) => change({ [parameter.name]: value })}
              error={refusal?.param === parameter.name ? refusal.text : undefined}
            />
          ))}
        </fieldset>
      )}
    </details>
  )
}

function isActive(values: Values) {
  return ({ name }: Parameter) => values[name] !== undefined
}

/** The plugin with most parameters, and those that choose the format, are open at first. */
function isCommon(plugin: PluginParameters, all: readonly PluginParameters[]): boolean {
  const most = Math.max(...all.map(({ parameters }) => parameters.length))
  return (
    plugin.parameters.some(({ name }) => name === 'f') ||
    plugin === all.find(({ parameters }) => parameters.length === most)
  )
}
