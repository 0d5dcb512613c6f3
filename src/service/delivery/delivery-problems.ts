import { Problem } from '../../core/problem.ts'

/** 400: of these the first alone would be of no use, since it has nothing but the addresses of the others. */
export function severalFiles(): Problem {
  return new Problem({
    status: 400,
    code: 'several_files',
    detail: 'expected a transformation into one file, to save or archive it, but this one creates several',
  })
}

export function transformOfDerivative(): Problem {
  return new Problem({
    status: 400,
    code: 'transform_of_derivative',
    detail: 'expected no parameters for a derivative: transform its original',
  })
}
