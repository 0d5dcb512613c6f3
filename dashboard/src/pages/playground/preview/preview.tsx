import { useState } from 'react'
import type { FileWithDerivatives } from '../../../../../client/index.ts'
import { Segmented } from '../../../ui/forms/choices.tsx'
import { Card } from '../../../ui/page.tsx'
import type { Parameter } from '../catalog.ts'
import type { Change, Values } from '../state.ts'
import { PLAYGROUND } from '../texts.ts'
import { Facts } from './facts.tsx'
import { PictureTools } from './picture-tools.tsx'
import { OriginalMedia, type Size, STAGE, Stage, useObjectUrl } from './stage.tsx'
import { useOriginal } from './use-original.ts'
import type { Rendered } from './use-result.ts'

type View = 'result' | 'compare' | 'original'

interface Props {
  file: FileWithDerivatives
  rendered: Rendered
  parameters: readonly Parameter[]
  values: Values
  change: Change
}

/** The result, the comparison with the original, and the original with the tools for crop and focal point. */
export function Preview({ file, rendered, parameters, values, change }: Props) {
  const [view, setView] = useState<View>('result')
  const { result, isRendering } = rendered
  const original = useOriginal(file)
  const picture = useObjectUrl(result?.mediaType.startsWith('image/') ? result.blob : undefined)
  const [size, setSize] = useState<Size & { url: string }>()
  const isPicture = file.mimeType === 'image'
  const canCompare = isPicture && picture !== undefined && original.url !== undefined
  const shown = view === 'compare' && !canCompare ? 'result' : view
  // A picture is measured by its own URL: that of the service is the same for another format.
  const measured = picture ?? result?.url
  return (
    // On phones it remains visible above the parameters, unless the phone lies on its side.
    <Card
      isFlush
      className="order-1 min-w-0 max-md:[@media(min-height:44rem)]:sticky max-md:top-14 max-md:z-20"
    >
      <h2 className="sr-only">{PLAYGROUND.preview}</h2>
      <div className="flex h-12 items-center justify-between gap-3 border-line border-b px-3">
        <Segmented
          label={PLAYGROUND.view}
          value={shown}
          onChange={setView}
          options={[
            { value: 'result', label: PLAYGROUND.result },
            ...(isPicture ? [{ value: 'compare' as const, label: PLAYGROUND.compare }] : []),
            { value: 'original', label: PLAYGROUND.original },
          ]}
        />
        <span role="status" className="text-muted text-sm">
          {isRendering && (
            <span className="inline-flex items-center gap-2">
              <span className="size-2 animate-pulse rounded-full bg-accent" />
              {PLAYGROUND.rendering}
            </span>
          )}
        </span>
      </div>
      {shown !== 'original' ? (
        <Stage
          rendered={rendered}
          picture={picture}
          compared={shown === 'compare' ? original.url : undefined}
          change={change}
          onSize={(next) => measured !== undefined && setSize({ ...next, url: measured })}
        />
      ) : isPicture ? (
        <PictureTools
          original={original}
          parameters={parameters}
          values={values}
          change={change}
          stage={STAGE}
        />
      ) : (
        <OriginalMedia file={file} original={original} />
      )}
      <Facts original={file} rendered={rendered} size={size && size.url === measured ? size : undefined} />
    </Card>
  )
}
