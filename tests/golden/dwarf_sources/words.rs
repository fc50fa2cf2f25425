// SPDX-License-Identifier: Apache-2.0
use std::collections::HashMap;

fn main() {
    let mut places: HashMap<String, Vec<usize>> = HashMap::new();
    for (place, word) in std::env::args().enumerate() {
        places.entry(word).or_default().push(place);
    }
    let mut sums: Vec<(usize, usize)> =
        places.iter().map(|(word, at)| (word.len(), at.iter().sum())).collect();
    sums.sort_by_key(|sum| sum.1);
    println!("{:?}", sums);
}
