import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FaultNotice } from './fault-notice.js';
import { LoadingRows } from './loading.js';

interface QueryViewProps<Data> {
  query: UseQueryResult<Data>;
  /** Shown while the first result is loading. */
  loading?: ReactNode;
  /** Renders the result. A failed refresh keeps the last result, below a notice. */
  children: (data: Data) => ReactNode;
}

/** Shows the result of a query, or its loading or error state. */
export function QueryView<Data>({ query, loading = <LoadingRows />, children }: QueryViewProps<Data>) {
  const { data, error, isPending, refetch } = query;
  if (isPending) return loading;
  return (
    <>
      {error && <FaultNotice error={error} isRepeated onRetry={() => void refetch()} />}
      {data !== undefined && children(data)}
    </>
  );
}
