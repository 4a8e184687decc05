//! Interrupts: executions that run end, later ones do not. They concern a whole process, so these tests have one of
//! their own, and take turns.

use std::sync::mpsc;

use oxcall::sync::{Mutex, MutexGuard};
use oxcall::{Code, Error};
use oxcall_engine::{Argument, Buffer, Engine, EngineOptions, Era, ExecuteOptions, Launch, Program, interrupt};
use oxcall_hlo::{parse_text, verify};

/// A loop that ends if the argument says so, of scalars or of arrays.
fn compile(engine: &std::sync::Arc<Engine>, ty: &str) -> Program {
    let text = format!(
        "module @looping {{
          func.func @main(%go: tensor<i1>, %x: {ty}) -> ({ty}) {{
            %y:2 = stablehlo.while(%a = %go, %b = %x) : tensor<i1>, {ty}
              cond {{ stablehlo.return %a : tensor<i1> }}
              do {{
                %c = stablehlo.add %b, %b : {ty}
                stablehlo.return %a, %c : tensor<i1>, {ty}
              }}
            return %y#1 : {ty}
          }}
        }}"
    );
    let module = parse_text(&text).expect("it parses");
    verify(&module).expect("it is valid");
    engine.compile(module).expect("it compiles")
}

fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock()
}

type Outcome = Result<Vec<Buffer>, Error>;

fn start(engine: &Engine, program: &Program, go: bool, len: usize, era: Option<Era>) -> mpsc::Receiver<Outcome> {
    let buffer = |bytes: &[u8]| {
        let mut buffer = engine.allocate(bytes.len()).unwrap();
        buffer.as_bytes_mut().copy_from_slice(bytes);
        Argument::Donated(buffer)
    };
    let ones = 1f32.to_le_bytes().repeat(len);
    let (sender, receiver) = mpsc::channel();
    let options = ExecuteOptions { launch: Launch::Elsewhere, era, ..ExecuteOptions::default() };
    program.execute(vec![buffer(&[go.into()]), buffer(&ones)], &options, move |outcome| _ = sender.send(outcome));
    receiver
}

#[test]
fn loops_end_and_later_ones_run() {
    let _turn = turn();
    let engine = Engine::new(EngineOptions { num_threads: 2, ..EngineOptions::default() });
    for (ty, len) in [("tensor<f32>", 1), ("tensor<64xf32>", 64)] {
        let program = compile(&engine, ty);
        for _ in 0..3 {
            let endless = start(&engine, &program, true, len, None);
            assert!(endless.recv_timeout(std::time::Duration::from_millis(20)).is_err());
            interrupt();
            let error = endless.recv().unwrap().unwrap_err();
            assert_eq!(error.code(), Code::Cancelled);
            assert!(error.message().contains("the program looping was interrupted"), "{error}");
            let results = start(&engine, &program, false, len, None).recv().unwrap().unwrap();
            assert_eq!(results[0].as_bytes(), 1f32.to_le_bytes().repeat(len));
        }
    }
}

/// What was asked for before the interrupt, and begins after it.
#[test]
fn executions_that_wait_to_begin_end() {
    let _turn = turn();
    let engine = Engine::new(EngineOptions { num_threads: 2, ..EngineOptions::default() });
    let program = compile(&engine, "tensor<64xf32>");
    let era = Era::now();
    interrupt();
    let error = start(&engine, &program, false, 64, Some(era)).recv().unwrap().unwrap_err();
    assert_eq!(error.code(), Code::Cancelled);
    assert!(start(&engine, &program, false, 64, Some(Era::now())).recv().unwrap().is_ok());
}
