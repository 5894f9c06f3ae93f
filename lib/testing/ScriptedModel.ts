/**
 * A language model that says what a test wrote down, through the real
 * `LanguageModel.make`: its parts are decoded by the real toolkit, so a script
 * that no provider could produce fails like one would (`RT-04`). No network, no
 * clock of its own, no randomness.
 */
import * as Context from "effect/Context";
import * as Effect from "effect/Effect";
import * as Layer from "effect/Layer";
import * as Ref from "effect/Ref";
import * as Stream from "effect/Stream";
import * as LanguageModel from "effect/unstable/ai/LanguageModel";
import * as Model from "effect/unstable/ai/Model";
import { type RecordedRequest, recordRequest } from "#lib/testing/recorded-request.ts";
import {
  type Emission,
  type ScriptedTurn,
  toResponseParts,
  toStreamParts,
} from "#lib/testing/scripted-turn.ts";

export * from "#lib/testing/recorded-request.ts";
export * from "#lib/testing/scripted-turn.ts";

/** A turn, or a function of the request it answers. */
export type TurnScript = ScriptedTurn | ((request: RecordedRequest) => ScriptedTurn);

/** How a scripted model behaves apart from its words. */
export interface ScriptedModelOptions {
  /** UTF-16 units per delta of a streamed response; whole number of at least 1; default 8. */
  readonly chunkSize?: number;
  /** The schema transformation of the provider this model stands for. */
  readonly codecTransformer?: LanguageModel.CodecTransformer;
  /** Provider and model name, as `Model.ProviderName` and `Model.ModelName`; default `"scripted"` for both. */
  readonly providerName?: string;
  readonly modelName?: string;
  /** What answers when the script is at its end; default: a defect that says so. */
  readonly whenExhausted?: TurnScript;
}

/** What a test asks a scripted model, and how it gives it more to say. */
export class ScriptedModel extends Context.Service<
  ScriptedModel,
  {
    /** Every request so far, oldest first. */
    readonly requests: Effect.Effect<ReadonlyArray<RecordedRequest>>;
    /** How many scripted turns have not been used. */
    readonly remaining: Effect.Effect<number>;
    /** Adds turns at the end of the script. */
    readonly push: (...turns: ReadonlyArray<TurnScript>) => Effect.Effect<void>;
  }
>()("effect-agent/testing/ScriptedModel") {
  /** A model with this script, and the service that watches it. */
  static readonly layer = (
    turns: ReadonlyArray<TurnScript>,
    options: ScriptedModelOptions = {},
  ): Layer.Layer<
    ScriptedModel | LanguageModel.LanguageModel | Model.ProviderName | Model.ModelName
  > => Layer.effectContext(makeContext(turns, options));
}

interface ScriptState {
  readonly turns: ReadonlyArray<TurnScript>;
  readonly requests: ReadonlyArray<RecordedRequest>;
}

const makeContext = Effect.fnUntraced(function* (
  turns: ReadonlyArray<TurnScript>,
  options: ScriptedModelOptions,
) {
  const state = yield* Ref.make<ScriptState>({ turns, requests: [] });

  const take = (method: RecordedRequest["method"], request: LanguageModel.ProviderOptions) =>
    Ref.modify(state, ({ turns, requests }) => {
      const recorded = recordRequest(requests.length, method, request, options.codecTransformer);
      const script = turns[0] ?? options.whenExhausted;
      const turn = typeof script === "function" ? script(recorded) : script;
      return [turn, { turns: turns.slice(1), requests: [...requests, recorded] }];
    }).pipe(
      Effect.flatMap((turn) =>
        turn === undefined
          ? Effect.die(
              new Error("The scripted model was asked once more than its script has turns."),
            )
          : Effect.succeed(turn),
      ),
      Effect.tap((turn) => (turn.delay === undefined ? Effect.void : Effect.sleep(turn.delay))),
    );

  const model = yield* LanguageModel.make({
    ...(options.codecTransformer === undefined
      ? {}
      : { codecTransformer: options.codecTransformer }),
    generateText: (request) =>
      Effect.flatMap(take("generateText", request), (turn) => {
        const { parts, error } = toResponseParts(turn);
        return error === undefined ? Effect.succeed([...parts]) : Effect.fail(error);
      }),
    streamText: (request) =>
      Stream.unwrap(
        Effect.map(take("streamText", request), (turn) =>
          streamOf(toStreamParts(turn, options.chunkSize ?? 8), turn.partDelay),
        ),
      ),
  });

  return Context.make(LanguageModel.LanguageModel, model).pipe(
    Context.add(Model.ProviderName, options.providerName ?? "scripted"),
    Context.add(Model.ModelName, options.modelName ?? "scripted"),
    Context.add(ScriptedModel, {
      requests: Effect.map(Ref.get(state), ({ requests }) => requests),
      remaining: Effect.map(Ref.get(state), ({ turns }) => turns.length),
      push: (...more) => Ref.update(state, (now) => ({ ...now, turns: [...now.turns, ...more] })),
    }),
  );
});

/** One part per chunk, as a network would deliver them. */
const streamOf = <Part>(
  { parts, error }: Emission<Part>,
  partDelay: ScriptedTurn["partDelay"],
): Stream.Stream<Part, NonNullable<typeof error>> => {
  const sent = Stream.fromIterable(parts, { chunkSize: 1 });
  const paced =
    partDelay === undefined
      ? sent
      : Stream.mapEffect(sent, (part) => Effect.as(Effect.sleep(partDelay), part));
  return error === undefined ? paced : Stream.concat(paced, Stream.fail(error));
};
