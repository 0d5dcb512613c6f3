import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { buildUrl, type FileWithDerivatives } from '../../../../../client/index.ts'
import { useClient } from '../../../api/session.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Card } from '../../../ui/page.tsx'
import { Notice } from '../../../ui/states.tsx'
import { Tabs } from '../../../ui/tabs.tsx'
import { needsSignature } from '../delivery.ts'
import type { Result } from '../preview/request.ts'
import { presetsQuery } from '../queries.ts'
import { queryOf, type Values, valuesOf } from '../state.ts'
import { PLAYGROUND } from '../texts.ts'
import { type Code, codeOf } from './code.ts'

const KINDS = ['url', 'srcset', 'picture', 'react', 'curl'] as const

/** The URL of the result, and code that shows it. */
export function Snippets({
  file,
  values,
  result,
}: {
  file: FileWithDerivatives
  values: Values
  result: Result | undefined
}) {
  const [kind, setKind] = useState<keyof Code>('url')
  const { client, sluice } = useClient()
  const { data: presets } = useQuery(presetsQuery(client.id, sluice))
  const preset = presets?.find(({ name }) => name === values.preset)
  const query = queryOf(values)
  const isSigned = needsSignature(file)
  // The part before the signature, which covers the parameters.
  const src = isSigned ? file.src.replace(/\?.*$/s, '') : file.src
  const code = codeOf({
    src,
    url: isSigned ? (result?.publicUrl ?? src) : buildUrl(src, query),
    values,
    preset: preset && valuesOf(preset),
    alt: file.originalName.replace(/\.[^.]*$/, ''),
    isImage: file.mimeType === 'image',
  })
  const tabs = KINDS.flatMap((value) => {
    const text = code[value]
    if (text === undefined) return []
    return [{ value, label: PLAYGROUND[value], content: <Block text={text} label={PLAYGROUND[value]} /> }]
  })
  return (
    <Card title={PLAYGROUND.snippets}>
      {isSigned && <Notice tone="warning">{PLAYGROUND.signed}</Notice>}
      <Tabs label={PLAYGROUND.snippets} value={kind} onChange={setKind} tabs={tabs} />
    </Card>
  )
}

function Block({ text, label }: { text: string; label: string }) {
  return (
    <div className="relative rounded-md border border-line bg-sunken">
      {/* biome-ignore lint/a11y/useSemanticElements: white space matters in it */}
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolled area must be reachable by keyboard
        tabIndex={0}
        role="region"
        aria-label={label}
        className="max-h-72 overflow-auto whitespace-pre-wrap break-all py-3 pr-12 pl-3 font-mono text-xs leading-5"
      >
        {text}
      </pre>
      <div className="absolute top-1.5 right-1.5">
        <CopyButton text={text} label={PLAYGROUND.copySnippet} />
      </div>
    </div>
  )
}
