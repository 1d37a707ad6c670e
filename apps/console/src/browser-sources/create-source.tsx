import { Button, Group, Modal, MultiSelect, NumberInput, Select, Stack, TextInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { SubmitEvent } from 'react';
import { api, call } from '../api/api.js';
import { ApiError } from '../api/api-error.js';
import { eventTypesQuery, streamersQuery } from '../api/queries.js';
import { FaultNotice } from '../kit/fault-notice.js';
import { AnchorLink } from '../kit/links.js';
import { SecretNotice } from '../kit/secret-notice.js';
import { Time } from '../kit/time.js';
import { toExpires } from '../tokens/token-fields.js';
import { tokensKey } from '../tokens/tokens-query.js';
import { printSourceAddress, sourceDays, type SourceOptions } from './source-address.js';

export type SourceDraft = SourceOptions & { eventTypes: string[] };

interface CreateSourceProps {
  draft: SourceDraft;
  onChange: (draft: SourceDraft) => void;
}

// Maximum length of a source's name. The API limits token names to 64 characters, including the prefix `Browser source `.
const maxNameLength = 48;

/**
 * Creates a token that can only receive one channel's live events of the chosen types, for a year. Shows the source's address, which
 * contains the token, once.
 */
export function CreateSource({ draft, onChange }: CreateSourceProps) {
  const { data: streamers = [], isSuccess } = useQuery(streamersQuery);
  const isWithoutStreamers = isSuccess && streamers.length === 0;
  const { data: types = [] } = useQuery(eventTypesQuery);
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      call(
        api().POST('/api/v1/tokens', {
          body: {
            name: `Browser source ${draft.name.trim()}`,
            scopes: ['events:live'],
            channel_ids: [draft.channelId],
            event_types: draft.eventTypes.length > 0 ? draft.eventTypes : null,
            expires: toExpires(sourceDays),
          },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: tokensKey }),
  });
  const change = (changed: Partial<SourceDraft>): void => onChange({ ...draft, ...changed });
  const submit = (event: SubmitEvent): void => {
    event.preventDefault();
    create.mutate();
  };
  const fieldErrors = create.error instanceof ApiError ? create.error.fieldErrors : {};
  const names = new Set([...types.map(({ event_type }) => event_type), ...draft.eventTypes]);
  return (
    <form onSubmit={submit}>
      <Stack gap="sm">
        <Group grow align="flex-start">
          <Select
            label="Channel"
            placeholder={isWithoutStreamers ? 'There are no streamers yet' : 'Choose a streamer'}
            description={
              isWithoutStreamers && (
                <AnchorLink inherit underline="always" to="/streamers">
                  Add a streamer first
                </AnchorLink>
              )
            }
            data={streamers.map(({ platform_id: value, platform_username: label }) => ({ value, label }))}
            value={draft.channelId || null}
            onChange={(value) => change({ channelId: value ?? '' })}
            error={fieldErrors.channel_ids}
            searchable
            required
            withAsterisk={false}
          />
          <TextInput
            label="Name of the source"
            value={draft.name}
            onChange={({ currentTarget }) => change({ name: currentTarget.value })}
            error={fieldErrors.name}
            maxLength={maxNameLength}
            required
            withAsterisk={false}
          />
        </Group>
        <MultiSelect
          label="Alerts"
          placeholder={draft.eventTypes.length === 0 ? 'All event types' : ''}
          data={[...names].sort()}
          value={draft.eventTypes}
          onChange={(eventTypes) => change({ eventTypes })}
          error={fieldErrors.event_types}
          maxValues={100}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': 'Show all event types' }}
          hidePickedOptions
        />
        <NumberInput
          label="Seconds per alert"
          defaultValue={draft.seconds}
          onChange={(value) => {
            if (typeof value === 'number') change({ seconds: value });
          }}
          min={1}
          max={600}
          maw={160}
        />
        {create.error && Object.keys(fieldErrors).length === 0 && <FaultNotice error={create.error} />}
        <Group>
          <Button type="submit" size="xs" loading={create.isPending} disabled={draft.channelId === ''}>
            Create address
          </Button>
        </Group>
      </Stack>
      <Modal
        opened={create.data !== undefined}
        onClose={create.reset}
        title="The address was created"
        size="lg"
        closeOnClickOutside={false}
        closeOnEscape={false}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {create.data && (
          <SecretNotice
            label="Address of the browser source"
            secret={printSourceAddress(location.origin, create.data.key, draft)}
            onDone={create.reset}
          >
            Paste the address as the URL of a browser source in OBS. Anyone with the address can see the
            chosen events of this channel, so do not show the address on your stream. To invalidate the
            address, revoke the token <b>{create.data.name}</b> on the Tokens page.
            {create.data.expires !== null && (
              <>
                {' '}
                The address is valid until <Time value={create.data.expires} />. Renew it on this page before
                then. The address stays the same.
              </>
            )}
          </SecretNotice>
        )}
      </Modal>
    </form>
  );
}
