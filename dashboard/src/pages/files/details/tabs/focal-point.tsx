import type { FileWithDerivatives } from '../../../../../../client/index.ts'
import { useMay } from '../../../../api/session.ts'
import { Button } from '../../../../ui/button.tsx'
import { useDelivery } from '../data/delivery.ts'
import { useFocalPoint } from '../data/focal-point.ts'
import { DETAILS } from '../texts.ts'

const CROPS = [
  { ratio: '1:1', width: 96 },
  { ratio: '16:9', width: 160 },
  { ratio: '9:16', width: 54 },
]

/** The focal point of a picture, and the crops that follow from it. */
export function FocalPoint({ file }: { file: FileWithDerivatives }) {
  const { point, setPoint } = useFocalPoint(file)
  const mayEdit = useMay('editor')
  const { x, y } = file.focalPoint ?? { x: 0.5, y: 0.5 }
  // With the point in the URL: browsers cache the crops of a former point for a week.
  const { urls } = useDelivery(
    file,
    CROPS.map(({ ratio, width }) => `w=${2 * width}&ar=${ratio}&fx=${x}&fy=${y}&f=auto`),
  )
  return (
    <section aria-label={DETAILS.focalPoint} className="border-line border-t pt-4">
      <h3 className="mb-1 font-semibold">{DETAILS.focalPoint}</h3>
      <div className="mb-3 flex min-h-7 items-center justify-between gap-2">
        <p className="text-muted text-sm">
          {point ? DETAILS.focalHere(point.x, point.y) : DETAILS.focalNone}
        </p>
        {point && mayEdit && (
          <Button size="small" onClick={() => setPoint(null)}>
            {DETAILS.focalRemove}
          </Button>
        )}
      </div>
      {file.format !== 'svg' && (
        <div className="flex items-end gap-3">
          {CROPS.map(({ ratio, width }, index) => {
            const [w = 1, h = 1] = ratio.split(':').map(Number)
            return (
              <figure key={ratio} className="text-center text-faint text-xs">
                <img
                  src={urls?.[index]}
                  alt={DETAILS.cropOf(ratio)}
                  width={width}
                  height={Math.round((width * h) / w)}
                  className="rounded-md bg-sunken"
                />
                <figcaption className="mt-1">{ratio}</figcaption>
              </figure>
            )
          })}
        </div>
      )}
    </section>
  )
}
