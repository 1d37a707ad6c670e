import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { FaultNotice } from './fault-notice.js';
import { LoadingRows } from './loading.js';

interface QueryViewProps<Data> {
  query: UseQueryResult<Data>;
  /** Shown until the first result arrives. */
  loading?: ReactNode;
  /** Renders the result. If a refresh fails, the last result stays below a notice. */
  children: (data: Data) => ReactNode;
}

/** Shows the result of a query, or that it is loading or has failed. */
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
