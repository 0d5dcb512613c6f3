import { useNavigate } from '@tanstack/react-router'
import { ImageUp } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { FileWithDerivatives, ParameterLists } from '../../../../client/index.ts'
import { useClient } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog } from '../../ui/overlays/dialog.tsx'
import { Card, Page } from '../../ui/page.tsx'
import { isShownAsImage, parametersFor } from './catalog.ts'
import { FileChoice } from './choose/file-choice.tsx'
import { ControlPanel } from './controls/panel.tsx'
import { PresetMenu } from './presets/preset-menu.tsx'
import { Preview } from './preview/preview.tsx'
import { RenderError } from './preview/request.ts'
import { useResult } from './preview/use-result.ts'
import { Snippets } from './snippets/snippets.tsx'
import { queryOf, useValues } from './state.ts'
import { PLAYGROUND } from './texts.ts'

/** The playground of one file: preview, parameters, and code. */
export function Workbench({ file, lists }: { file: FileWithDerivatives; lists: ParameterLists }) {
  const group = file.mimeType
  const own = useMemo(() => parametersFor(lists, group), [lists, group])
  const images = useMemo(() => parametersFor(lists, 'image'), [lists])
  const { values, change, replace } = useValues(own)
  const query = queryOf(values)
  const rendered = useResult(file, query)
  const { result, error } = rendered
  const refusal =
    error instanceof RenderError && error.param !== undefined
      ? { param: canonical(error.param, [...own, ...images]), text: error.message }
      : undefined
  // The frame of a video is an image, and has the parameters of images.
  const isFrame = group !== 'image' && (result?.mediaType.startsWith('image/') ?? false)
  const further = useMemo(() => {
    const names = new Set(own.map(({ name }) => name))
    const isUsed = images.some(({ name }) => !names.has(name) && values[name] !== undefined)
    const isImage = isFrame || isShownAsImage(file)
    return isImage || (group === 'video' && isUsed) ? images.filter(({ name }) => !names.has(name)) : []
  }, [own, images, values, isFrame, group, file])
  return (
    <Page
      title={PLAYGROUND.title}
      isWide
      description={
        <span className="block truncate" title={file.s3PathOriginal}>
          {file.originalName}
        </span>
      }
      actions={
        // In one row on phones.
        <div className="flex flex-wrap items-center gap-2 max-sm:[&>button>svg]:hidden">
          <PresetMenu group={group} values={values} replace={replace} />
          <ChangeFile />
        </div>
      }
    >
      <div className="flex flex-col gap-5 lg:grid lg:items-start lg:grid-cols-[minmax(0,1fr)_20rem] xl:grid-cols-[minmax(0,1fr)_24rem]">
        <div className="contents lg:flex lg:min-w-0 lg:flex-col lg:gap-5">
          <Preview file={file} rendered={rendered} values={values} change={change} parameters={own} />
          <div className="order-3 min-w-0">
            <Snippets file={file} values={values} result={result} />
          </div>
        </div>
        <Card
          isFlush
          className="order-2 min-w-0 lg:sticky lg:top-5 lg:flex lg:max-h-[calc(100dvh-2.5rem)] lg:flex-col lg:[&>div]:flex lg:[&>div]:min-h-0 lg:[&>div]:flex-col"
        >
          <h2 className="sr-only">{PLAYGROUND.parameters}</h2>
          <ControlPanel
            parameters={own}
            further={further}
            values={values}
            change={change}
            refusal={refusal}
          />
        </Card>
      </div>
    </Page>
  )
}

function ChangeFile() {
  const [isOpen, setOpen] = useState(false)
  const { client } = useClient()
  const navigate = useNavigate()
  return (
    <>
      <Button icon={<ImageUp aria-hidden="true" className="size-4" />} onClick={() => setOpen(true)}>
        {PLAYGROUND.changeFile}
      </Button>
      <Dialog isOpen={isOpen} onClose={() => setOpen(false)} title={PLAYGROUND.chooseFile} size="large">
        <FileChoice
          onChoose={({ s3PathOriginal }) =>
            void navigate({
              to: '/c/$clientId/playground/$',
              params: { clientId: client.id, _splat: s3PathOriginal },
              search: {},
            })
          }
        />
      </Dialog>
    </>
  )
}

function canonical(
  word: string,
  parameters: ReadonlyArray<{ name: string; aliases: readonly string[] }>,
): string {
  return parameters.find(({ aliases }) => aliases.includes(word))?.name ?? word
}
