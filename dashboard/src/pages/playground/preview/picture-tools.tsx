import { clsx } from 'clsx'
import { Crop, Crosshair } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../../ui/button.tsx'
import { Segmented } from '../../../ui/forms/choices.tsx'
import { Skeleton } from '../../../ui/skeleton.tsx'
import type { Parameter } from '../catalog.ts'
import type { Change, Values } from '../state.ts'
import { PLAYGROUND } from '../texts.ts'
import { CropFrame } from './crop-frame.tsx'
import { FocusPoint } from './focus-point.tsx'
import type { Original } from './use-original.ts'

type Tool = 'crop' | 'focus'

/** The original, on which a crop and a focal point are chosen. A tool is shown when a plugin has its parameters. */
export function PictureTools({
  original,
  parameters,
  values,
  change,
  stage,
}: {
  original: Original
  parameters: readonly Parameter[]
  values: Values
  change: Change
  stage: string
}) {
  const [shown, setShown] = useState<{ width: number; height: number }>()
  // A box in whole pixels. Regions to conceal are boxes too, in fractions of the sides.
  const crop = parameters.find(
    ({ type, ...rest }) => type === 'list' && 'names' in rest && rest.of === 'integer' && isBox(rest.names),
  )
  const hasFocus = ['fx', 'fy'].every((name) => parameters.some((parameter) => parameter.name === name))
  const [chosen, setTool] = useState<Tool>(values.fx === undefined ? 'crop' : 'focus')
  const tool = crop && hasFocus ? chosen : crop ? 'crop' : hasFocus ? 'focus' : undefined
  const width = original.width ?? shown?.width
  const height = original.height ?? shown?.height
  const isSet = tool === 'crop' ? values[crop?.name ?? ''] !== undefined : values.fx !== undefined
  return (
    <div className="bg-sunken">
      <div className={clsx(stage, 'flex-col max-sm:h-auto')}>
        {tool && (
          <div className="flex w-full flex-wrap items-center gap-x-3 gap-y-2 border-line border-b bg-surface px-3 py-2">
            {crop && hasFocus && (
              <Segmented
                label={PLAYGROUND.tool}
                value={tool}
                onChange={setTool}
                options={[
                  {
                    value: 'crop',
                    label: (
                      <>
                        <Crop aria-hidden="true" />
                        {PLAYGROUND.crop}
                      </>
                    ),
                  },
                  {
                    value: 'focus',
                    label: (
                      <>
                        <Crosshair aria-hidden="true" />
                        {PLAYGROUND.focus}
                      </>
                    ),
                  },
                ]}
              />
            )}
            <p className="min-w-40 flex-1 text-muted text-xs">
              {tool === 'crop' ? PLAYGROUND.cropHint : PLAYGROUND.focusHint}
            </p>
            <Button
              size="small"
              disabled={!isSet}
              onClick={() =>
                change(tool === 'crop' ? { [crop?.name ?? '']: undefined } : { fx: undefined, fy: undefined })
              }
            >
              {tool === 'crop' ? PLAYGROUND.removeCrop : PLAYGROUND.removeFocus}
            </Button>
          </div>
        )}
        <div className="flex min-h-0 w-full flex-1 items-center justify-center p-3 max-sm:h-60 max-sm:flex-none">
          {original.url ? (
            // As large as the picture, so that positions are fractions of it.
            <div className="relative inline-flex max-h-full max-w-full">
              <img
                src={original.url}
                alt={PLAYGROUND.original}
                draggable={false}
                onLoad={({ currentTarget: { naturalWidth, naturalHeight } }) =>
                  setShown({ width: naturalWidth, height: naturalHeight })
                }
                className="checkered max-h-54 max-w-full object-contain sm:max-h-[calc(min(58vh,34rem)-6rem)]"
              />
              {tool === 'crop' && crop && width && height && shown && (
                <CropFrame
                  value={values[crop.name]}
                  size={{ width, height }}
                  onChange={(value) => change({ [crop.name]: value })}
                />
              )}
              {tool === 'focus' && shown && (
                <FocusPoint
                  x={values.fx}
                  y={values.fy}
                  onChange={(x, y) => change({ fx: String(x), fy: String(y) })}
                />
              )}
            </div>
          ) : (
            <Skeleton className="size-full" />
          )}
        </div>
      </div>
    </div>
  )
}

function isBox(names: readonly string[]): boolean {
  return names.join() === 'x,y,w,h'
}
