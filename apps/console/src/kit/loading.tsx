import { Skeleton, Stack, VisuallyHidden } from '@mantine/core';

export function LoadingRows({ count = 8 }: { count?: number }) {
  return (
    <Stack gap={10} p="md" role="status">
      <VisuallyHidden>Loading</VisuallyHidden>
      {Array.from({ length: count }, (_, index) => (
        <Skeleton key={index} height={20} width={`${92 - ((index * 17) % 40)}%`} radius="sm" />
      ))}
    </Stack>
  );
}
