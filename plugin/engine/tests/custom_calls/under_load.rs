//! Many executions at once, handlers that misbehave, and what outlives what.

use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize};
use std::sync::{Barrier, Mutex, mpsc};
use std::thread;
use std::time::Duration;

use oxcall::prelude::*;
use oxcall_engine::Launch;

use super::*;

struct Seed(i64);

oxcall::user_data!(unsafe Seed as "under_load.seed");

/// The seed of its execution, after a while, plus `x`.
#[custom_call]
fn add_seed(seed: UserData<'_, Seed>, x: Scalar<i64>, mut y: ScalarOut<i64>) {
    let before = seed.0;
    thread::sleep(Duration::from_micros(200));
    assert_eq!(before, seed.0);
    y.set(before + x.get());
}

/// Several executions of one program at once, each with user data of its own.
#[test]
fn user_data_belongs_to_an_execution() {
    static SEEDS: [Seed; 8] = [Seed(0), Seed(1), Seed(2), Seed(3), Seed(4), Seed(5), Seed(6), Seed(7)];
    let engine = engine();
    let program = "func.func @main() -> tensor<i64> {
      %x = stablehlo.constant dense<1000> : tensor<i64>
      %a = stablehlo.custom_call @add_seed(%x) {mhlo.backend_config = {}} : (tensor<i64>) -> tensor<i64>
      %b = stablehlo.custom_call @add_seed(%a) {mhlo.backend_config = {}} : (tensor<i64>) -> tensor<i64>
      return %b : tensor<i64>
    }";
    let program = compile(&engine, program).unwrap();
    let together = Barrier::new(SEEDS.len());
    thread::scope(|scope| {
        for seed in &SEEDS {
            let (program, together) = (&program, &together);
            scope.spawn(move || {
                together.wait();
                for round in 0..40 {
                    let launch = if round % 2 == 0 { Launch::Inline } else { Launch::Elsewhere };
                    let options = ExecuteOptions { launch, ..with_user_data("under_load.seed", seed) };
                    assert_eq!(get::<i64>(&execute(program, &options).unwrap()[0]), [1000 + 2 * seed.0]);
                }
            });
        }
    });
    // Nothing of it is left for an execution without user data.
    fails(program.run(Vec::new()), Code::NotFound, &["add_seed", "`seed`"]);
}

static ALIVE: AtomicI64 = AtomicI64::new(0);

/// Tests that look at [`ALIVE`] take turns.
static TURNS: Mutex<()> = Mutex::new(());

struct Tickets(AtomicU64);

impl Drop for Tickets {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, SeqCst);
    }
}

#[stage(instantiate)]
fn open_tickets(#[attr(default = 0)] first: u64) -> Tickets {
    ALIVE.fetch_add(1, SeqCst);
    Tickets(AtomicU64::new(first))
}

#[custom_call(instantiate = open_tickets)]
fn draw_ticket(#[state] tickets: &Tickets, mut y: ScalarOut<u64>) {
    y.set(tickets.0.fetch_add(1, SeqCst));
}

/// As [`draw_ticket`], a little later and elsewhere.
#[custom_call(instantiate = open_tickets)]
fn draw_ticket_later<'f>(
    #[state] tickets: &Tickets,
    mut y: ScalarOut<'f, u64>,
    later: Async<'f>,
) -> Result<Future<'f>> {
    let ticket = tickets.0.fetch_add(1, SeqCst);
    later.spawn(move || {
        y.set(ticket);
        Ok(())
    })
}

/// Twelve threads draw tickets of one executable: each number once, and the state goes with the program.
#[test]
fn threads_share_a_state() {
    let _turn = TURNS.lock().unwrap();
    const THREADS: u64 = 12;
    const EACH: u64 = 50;
    for target in ["draw_ticket", "draw_ticket_later"] {
        let engine = engine();
        let program = compile(&engine, &one_call(target, "first = 5 : i64", &[], &["tensor<ui64>"])).unwrap();
        assert_eq!(ALIVE.load(SeqCst), 1);
        let drawn = Mutex::new(Vec::new());
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    for _ in 0..EACH {
                        let ticket = get::<u64>(&program.run(Vec::new()).unwrap()[0])[0];
                        drawn.lock().unwrap().push(ticket);
                    }
                });
            }
        });
        let mut drawn = drawn.into_inner().unwrap();
        drawn.sort_unstable();
        assert_eq!(drawn, (5..5 + THREADS * EACH).collect::<Vec<_>>(), "{target}");
        let other = program.clone();
        drop((program, engine));
        assert_eq!(ALIVE.load(SeqCst), 1, "a clone is the same program");
        drop(other);
        assert_eq!(ALIVE.load(SeqCst), 0, "{target}");
    }
}

/// A program that fails to compile leaves no state behind, also where an earlier call was instantiated.
#[test]
fn a_failed_compilation_drops_its_states() {
    let _turn = TURNS.lock().unwrap();
    let program = "func.func @main() -> (tensor<ui64>, tensor<ui64>) {
      %a = stablehlo.custom_call @draw_ticket() {mhlo.backend_config = {}} : () -> tensor<ui64>
      %b = stablehlo.custom_call @no_such_thing() {mhlo.backend_config = {}} : () -> tensor<ui64>
      return %a, %b : tensor<ui64>, tensor<ui64>
    }";
    fails(run(program, &[]), Code::NotFound, &["no_such_thing"]);
    assert_eq!(ALIVE.load(SeqCst), 0);
}

/// Futures that tests complete by hand, by key: see [`by_hand`].
static PROMISES: Mutex<Vec<(i64, Promise)>> = Mutex::new(Vec::new());

#[custom_call]
fn by_hand<'f>(#[attr] key: i64, #[dims()] _y: ScalarOut<'f, f32>, later: Async<'f>) -> Result<Future<'f>> {
    let (promise, future) = later.promise()?;
    PROMISES.lock().unwrap().push((key, promise));
    Ok(future)
}

fn promise(key: i64) -> Promise {
    let mut promises = PROMISES.lock().unwrap();
    let index = promises.iter().position(|(of, _)| *of == key).expect("the handler ran");
    promises.swap_remove(index).1
}

/// Starts a program of one call that is completed by hand, and forgets the program and the engine.
fn start_by_hand(key: i64) -> mpsc::Receiver<Result<Vec<Buffer>>> {
    let engine = engine();
    let program = compile(&engine, &one_call("by_hand", &format!("key = {key} : i64"), &[], &["tensor<f32>"])).unwrap();
    let (sender, results) = mpsc::channel();
    program.execute(Vec::new(), &ExecuteOptions::default(), move |outcome| sender.send(outcome).unwrap());
    results
}

/// The execution keeps what it needs: program and engine are gone when the future completes.
#[test]
fn a_future_outlives_program_and_engine() {
    let results = start_by_hand(1);
    thread::sleep(Duration::from_millis(5));
    assert!(results.try_recv().is_err());
    promise(1).set(Ok(()));
    assert!(results.recv().unwrap().is_ok());
    let results = start_by_hand(2);
    promise(2).set(Err(Error::data_loss("too late")));
    fails(results.recv().unwrap(), Code::DataLoss, &["by_hand", "too late"]);
}

/// A promise that nobody keeps is an error, whoever drops it, and whenever.
#[test]
fn a_promise_dropped_late_is_an_error() {
    let results = start_by_hand(3);
    let promise = promise(3);
    let dropper = thread::spawn(move || {
        thread::sleep(Duration::from_millis(5));
        drop(promise);
    });
    fails(results.recv().unwrap(), Code::Aborted, &["by_hand"]);
    dropper.join().unwrap();
}

/// One that never completes holds up nothing but its own execution.
#[test]
fn a_future_that_never_completes_stops_nobody_else() {
    let results = start_by_hand(4);
    let engine = engine();
    for _ in 0..10 {
        let program = compile(&engine, &one_call("draw_none", "", &[], &["tensor<f32>"])).unwrap();
        assert!(program.run(Vec::new()).is_ok());
    }
    assert!(results.try_recv().is_err());
    std::mem::forget(promise(4));
}

#[custom_call]
fn draw_none(#[dims()] mut y: ScalarOut<f32>) {
    y.set(0.0);
}

#[custom_call]
fn misbehaves(#[attr] how: &str, mut y: ScalarOut<f32>) -> Result<()> {
    match how {
        "panics" => panic!("it broke"),
        "panics oddly" => std::panic::panic_any(7),
        "fails" => Err(Error::unavailable("not today")),
        _ => {
            y.set(1.0);
            Ok(())
        }
    }
}

/// Failures of some executions change nothing for those beside them.
#[test]
fn failures_stay_in_their_execution() {
    let engine = engine();
    let compile = |how: &str| {
        compile(&engine, &one_call("misbehaves", &format!("how = \"{how}\""), &[], &["tensor<f32>"])).unwrap()
    };
    let programs = ["panics", "panics oddly", "fails", "works"].map(|how| (how, compile(how)));
    let failures = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for (how, program) in programs.iter().cycle().take(40) {
                    match (*how, program.run(Vec::new())) {
                        ("works", outcome) => assert_eq!(get::<f32>(&outcome.unwrap()[0]), [1.0]),
                        ("fails", outcome) => fails(outcome, Code::Unavailable, &["misbehaves", "not today"]),
                        (_, outcome) => fails(outcome, Code::Internal, &["misbehaves"]),
                    }
                    failures.fetch_add(usize::from(*how != "works"), SeqCst);
                }
            });
        }
    });
    assert_eq!(failures.into_inner(), 8 * 30);
    assert_eq!(engine.allocator().memory_use().live, 0);
}

static ORDER: Mutex<Vec<i64>> = Mutex::new(Vec::new());

#[custom_call(side_effect)]
fn appends(#[attr] value: i64) {
    ORDER.lock().unwrap().push(value);
}

#[custom_call(side_effect)]
fn appends_token(#[attr] value: i64, _before: Token, _after: TokenOut) {
    ORDER.lock().unwrap().push(value);
}

/// Calls with side effects are neither removed, nor merged, nor reordered, in loops and branches either; those without
/// are removed where nobody needs their results.
#[test]
fn side_effects_happen_in_order() {
    let call = |value: i64| {
        format!(
            "stablehlo.custom_call @appends() {{mhlo.backend_config = {{value = {value} : i64}}, has_side_effect = true}} : () -> ()"
        )
    };
    let program = format!(
        "func.func private @inner() {{
           {seven}
           return
         }}
         func.func @main(%p: tensor<i1>) -> tensor<i32> {{
           {one}
           {one}
           stablehlo.custom_call @appends() {{mhlo.backend_config = {{value = -1 : i64}}}} : () -> ()
           %zero = stablehlo.constant dense<0> : tensor<i32>
           %two = stablehlo.constant dense<2> : tensor<i32>
           %step = stablehlo.constant dense<1> : tensor<i32>
           %r = stablehlo.while(%i = %zero) : tensor<i32>
             cond {{
               %more = stablehlo.compare LT, %i, %two : (tensor<i32>, tensor<i32>) -> tensor<i1>
               stablehlo.return %more : tensor<i1>
             }} do {{
               {three}
               %next = stablehlo.add %i, %step : tensor<i32>
               stablehlo.return %next : tensor<i32>
             }}
           %b = \"stablehlo.if\"(%p) ({{
             {four}
             stablehlo.return %zero : tensor<i32>
           }}, {{
             {five}
             stablehlo.return %two : tensor<i32>
           }}) : (tensor<i1>) -> tensor<i32>
           func.call @inner() : () -> ()
           {one}
           %s = stablehlo.add %r, %b : tensor<i32>
           return %s : tensor<i32>
         }}",
        one = call(1),
        three = call(3),
        four = call(4),
        five = call(5),
        seven = call(7),
    );
    for (predicate, branch) in [(1u8, 4), (0, 5)] {
        ORDER.lock().unwrap().clear();
        run(&program, &[vec![predicate]]).unwrap();
        assert_eq!(*ORDER.lock().unwrap(), [1, 1, 3, 3, branch, 7, 1]);
    }
    ordered_by_tokens();
}

/// Tokens give the order, whatever the program's text says.
fn ordered_by_tokens() {
    ORDER.lock().unwrap().clear();
    let call = |value: i64, from: &str, to: &str| {
        format!(
            "{to} = stablehlo.custom_call @appends_token({from}) {{mhlo.backend_config = {{value = {value} : i64}},
               has_side_effect = true}} : (!stablehlo.token) -> !stablehlo.token"
        )
    };
    let program = format!(
        "func.func @main() {{
           %t = stablehlo.create_token : !stablehlo.token
           {}
           {}
           %j = stablehlo.after_all %a, %b : !stablehlo.token
           {}
           return
         }}",
        call(1, "%t", "%a"),
        call(2, "%a", "%b"),
        call(3, "%j", "%c")
    );
    run(&program, &[]).unwrap();
    assert_eq!(*ORDER.lock().unwrap(), [1, 2, 3]);
}
